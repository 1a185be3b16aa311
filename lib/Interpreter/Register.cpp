//===- Register.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "autopar/Dialect/Training/Training.h"

#include "mlir/IR/DialectRegistry.h"

using namespace autopar;
using namespace autopar::interpreter;

void autopar::interpreter::registerExecution(mlir::DialectRegistry &registry) {
  registry.addExtension(
      +[](mlir::MLIRContext *context, transformer::TransformerDialect *) {
        attachElementwiseKernels(context);
        attachNormKernels(context);
        attachTokenKernels(context);
        attachConvolutionKernels(context);
        attachAttentionKernels(context);
        attachCompressedKernels(context);
        attachExpertKernels(context);
        attachHyperConnectionKernels(context);
        attachRecurrentKernels(context);
      });
  registry.addExtension(
      +[](mlir::MLIRContext *context, training::TrainingDialect *) {
        attachElementwiseGradientKernels(context);
        attachNormGradientKernels(context);
        attachRopeGradientKernels(context);
        attachRouterGradientKernels(context);
        attachGradientKernels(context);
        attachAttentionGradientKernels(context);
        attachExpertGradientKernels(context);
        attachTokenGradientKernels(context);
        attachLatentGradientKernels(context);
        attachTrainingKernels(context);
        attachOptimizerKernels(context);
        attachRecurrentGradientKernels(context);
      });
  registry.addExtension(
      +[](mlir::MLIRContext *context, parallel::ParallelDialect *) {
        attachCollectives(context);
      });
}
