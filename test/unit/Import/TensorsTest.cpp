//===- TensorsTest.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Import/Tensors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::importer;
using namespace mlir;

/// Names of the tensors of a module, one per line.
static std::string namesOf(StringRef text) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<func::FuncDialect, transformer::TransformerDialect>();
  auto module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  std::string names;
  auto add = [&](StringRef name, const transformer::StoredTensor &) {
    names += name.str() + "\n";
  };
  EXPECT_TRUE(module && succeeded(forEachTensor(*module, add)));
  return names;
}

TEST(Tensors, OfStoredFunctionsComeLast) {
  EXPECT_EQ(namesOf(R"mlir(
    transformer.stored @predictor
    transformer.stored @other
    func.func private @predictor(%x0: tensor<2xbf16>) {
      %h = transformer.weight "mtp.head" : tensor<2xbf16>
      transformer.repeat 2 layers "mtp.layers" from 61 (%x = %x0)
          : tensor<2xbf16> {
        func.call @layer() : () -> ()
        transformer.yield %x : tensor<2xbf16>
      }
      return
    }
    func.func private @other() {
      %h = transformer.weight "other" : tensor<2xbf16>
      return
    }
    func.func private @nobodys() {
      %h = transformer.weight "nobodys" : tensor<2xbf16>
      return
    }
    func.func private @layer() {
      %w = transformer.weight "w" : tensor<2xbf16>
      return
    }
    func.func private @declared()
    func.func @model(%x0: tensor<2xbf16>) {
      transformer.repeat 1 layers "layers" from 0 (%x = %x0) : tensor<2xbf16> {
        func.call @layer() : () -> ()
        transformer.yield %x : tensor<2xbf16>
      }
      %n = transformer.weight "norm" : tensor<2xbf16>
      return
    })mlir"),
            "layers.0.w\nnorm\nmtp.head\nmtp.layers.61.w\nmtp.layers.62.w\n"
            "other\n");
}

TEST(Tensors, OfWhatALayerCallsAreTheLayers) {
  EXPECT_EQ(namesOf(R"mlir(
    func.func private @layer() {
      %w = transformer.weight "w" : tensor<2xbf16>
      return
    }
    func.func private @wrapped() {
      %w = transformer.weight "before" : tensor<2xbf16>
      func.call @layer() : () -> ()
      %v = transformer.weight "after" : tensor<2xbf16>
      return
    }
    func.func @model(%x0: tensor<2xbf16>) {
      transformer.repeat 2 layers "layers" from 5 (%x = %x0) : tensor<2xbf16> {
        func.call @wrapped() : () -> ()
        transformer.yield %x : tensor<2xbf16>
      }
      return
    })mlir"),
            "layers.5.before\nlayers.5.w\nlayers.5.after\n"
            "layers.6.before\nlayers.6.w\nlayers.6.after\n");
}
