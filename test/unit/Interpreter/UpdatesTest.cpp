//===- UpdatesTest.cpp - Weights from one iteration to the next -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/InitAll.h"
#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Interpreter/Execution.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace autopar;
using namespace mlir;

namespace {

/// A product and its loss, with an update of `words`.
std::string moduleWith(const std::string &words) {
  return R"(
    func.func @model(%x: tensor<2x3xf32>, %l: tensor<2xi32>) -> tensor<2xf32> {
      %w = transformer.weight "w" : tensor<3x5xf32>
      %y = transformer.linear %x, %w : tensor<2x3xf32>, tensor<3x5xf32> -> tensor<2x5xf32>
      transformer.save %y "y" : tensor<2x5xf32>
      %z = transformer.cross_entropy %y, %l : tensor<2x5xf32>, tensor<2xi32> -> tensor<2xf32>
      return %z : tensor<2xf32>
    }
    func.func private @back(%x: tensor<2x3xf32>, %l: tensor<2xi32>) attributes {transformer.part_of = @model} {
      %w = transformer.weight "w" : tensor<3x5xf32>
      %y = transformer.saved "y" : tensor<2x5xf32>
      %d = transformer.cross_entropy_backward %y, %l : tensor<2x5xf32>, tensor<2xi32>
      %g = transformer.product_gradient %x, %d of %w
          : tensor<2x3xf32>, tensor<2x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
      transformer.accumulate %g of %w : tensor<3x5xf32>, tensor<3x5xf32>
      return
    }
    func.func private @update() attributes {transformer.part_of = @model} {
      %w = transformer.weight "w" : tensor<3x5xf32>
      %g = transformer.gradient %w : tensor<3x5xf32> -> tensor<3x5xf32>
      %u = transformer.update %w, %g )" +
         words + R"( : tensor<3x5xf32>, tensor<3x5xf32>
      transformer.assign %u to %w : tensor<3x5xf32>
      return
    }
    transformer.training backward(@back) update(@update))";
}

/// What one element of a weight has been in the iterations, and its gradients.
struct History {
  std::vector<double> weights, gradients, losses;
};

class UpdatesTest : public testing::Test {
protected:
  UpdatesTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerExecution(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  History run(const std::string &words, int iterations) {
    auto module =
        parseSourceString<ModuleOp>(moduleWith(words), ParserConfig(&context));
    History history;
    EXPECT_TRUE(module);
    if (!module)
      return history;
    Execution run(*module);
    history.weights.push_back(matrixScale * randomNumber("w", element));
    for (int i = 0; i < iterations; ++i) {
      EXPECT_TRUE(succeeded(run.run(Workload())));
      FailureOr<CheckpointElements> gradients = run.gradients();
      EXPECT_TRUE(succeeded(gradients));
      history.gradients.push_back(gradients->at("w").at(element));
      history.weights.push_back(run.training().next.at("w").at(element));
      const LocalTensor &loss = run.results().front();
      history.losses.push_back(loss.data[0] + loss.data[1]);
    }
    return history;
  }

  static constexpr int64_t element = 7;
  MLIRContext context;
};

} // namespace

TEST_F(UpdatesTest, PlainDescent) {
  History sgd = run("sgd states []", 3);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(sgd.weights[i + 1], sgd.weights[i] - 1e-3 * sgd.gradients[i],
                1e-15);
  EXPECT_LT(sgd.losses[1], sgd.losses[0]);
  EXPECT_LT(sgd.losses[2], sgd.losses[1]);
}

TEST_F(UpdatesTest, Momentum) {
  History sgd = run("sgd master states [f32, f32]", 3);
  double momentum = 0;
  for (int i = 0; i < 3; ++i) {
    momentum = 0.9 * momentum + sgd.gradients[i];
    EXPECT_NEAR(sgd.weights[i + 1], sgd.weights[i] - 1e-3 * momentum, 1e-15);
  }
}

TEST_F(UpdatesTest, Adam) {
  History adam = run("adamw states [f32, f32]", 2);
  double g0 = adam.gradients[0], g1 = adam.gradients[1];
  // The first step is as long for all gradients.
  EXPECT_NEAR(adam.weights[1],
              adam.weights[0] - 1e-3 * g0 / (std::abs(g0) + 1e-8), 1e-14);
  double m = (0.9 * 0.1 * g0 + 0.1 * g1) / (1 - 0.9 * 0.9);
  double v = (0.999 * 0.001 * g0 * g0 + 0.001 * g1 * g1) / (1 - 0.999 * 0.999);
  EXPECT_NEAR(adam.weights[2],
              adam.weights[1] - 1e-3 * m / (std::sqrt(v) + 1e-8), 1e-14);
}
