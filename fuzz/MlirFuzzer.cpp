//===- MlirFuzzer.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The input is a .mlir text: the scan that tools do first, then the parser and
// the verifiers.

#include "ListTensors.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Support/SourceText.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace autopar;
using namespace mlir;

extern "C" int LLVMFuzzerTestOneInput(const char *data, size_t size) {
  std::string_view text(data, size);
  if (isBytecode(text) || checkSourceText(text, "in.mlir"))
    return 0;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<func::FuncDialect, transformer::TransformerDialect,
                      parallel::ParallelDialect>();
  context.getDiagEngine().registerHandler([](Diagnostic &) {});
  // The lexer needs the zero byte that a copy ends with.
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy({data, size}, "in.mlir"), {});
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (module)
    fuzz::listFewTensors(*module);
  return 0;
}
