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
using namespace autopar::interpreter;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace mlir;

namespace {

/// A product and its loss, with `steps` that make %u of a weight %w of `rows`
/// rows and its gradient %g.
std::string moduleWith(const std::string &steps, int rows) {
  std::string text = R"(
    func.func @model(%x: tensor<2x3xf32>, %l: tensor<2xi32>) -> tensor<2xf32> {
      %w = transformer.weight "w" : tensor<3x5xf32>
      %y = transformer.linear %x, %w : tensor<2x3xf32>, tensor<3x5xf32> -> tensor<2x5xf32>
      training.save %y "y" : tensor<2x5xf32>
      %z = training.cross_entropy %y, %l : tensor<2x5xf32>, tensor<2xi32> -> tensor<2xf32>
      return %z : tensor<2xf32>
    }
    func.func private @back(%x: tensor<2x3xf32>, %l: tensor<2xi32>) attributes {training.part_of = @model} {
      %w = transformer.weight "w" : tensor<3x5xf32>
      %y = training.saved "y" : tensor<2x5xf32>
      %d = training.cross_entropy_backward %y, %l : tensor<2x5xf32>, tensor<2xi32>
      %g = training.product_gradient weight %x, %d of %w
          : tensor<2x3xf32>, tensor<2x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
      training.accumulate %g of %w : tensor<3x5xf32>, tensor<3x5xf32>
      return
    }
    func.func private @update() attributes {training.part_of = @model} {
      %w = transformer.weight "w" : tensor<3x5xf32>
      %g = training.gradient %w : tensor<3x5xf32> -> tensor<3x5xf32>
      )" + steps + R"(
      training.assign %u to %w : tensor<3x5xf32>
      return
    }
    training.iteration backward(@back) update(@update))";
  for (size_t at = text.find("3x5"); at != std::string::npos;
       at = text.find("3x5", at + 1))
    text.replace(at, 1, std::to_string(rows));
  for (size_t at = text.find("2x3xf32"); at != std::string::npos;
       at = text.find("2x3xf32", at + 1))
    text.replace(at + 2, 1, std::to_string(rows));
  return text;
}

/// An update of `words`.
std::string updateOf(const std::string &words) {
  return "%u = training.update %w, %g " + words +
         " : tensor<3x5xf32>, tensor<3x5xf32>";
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
    return runSteps(updateOf(words), 3, iterations);
  }

  /// Of the first iteration: what a weight of 5 columns has lost, and its
  /// gradients.
  std::pair<std::vector<double>, std::vector<double>>
  firstStep(const std::string &steps, int rows) {
    runSteps(steps, rows, 1);
    std::vector<double> lost, gradients;
    for (const auto &[at, value] : last) {
      lost.push_back(matrixScale * randomNumber("w", at) - value);
      gradients.push_back(lastGradients.at(at));
    }
    return {lost, gradients};
  }

  History runSteps(const std::string &steps, int rows, int iterations) {
    auto module = parseSourceString<ModuleOp>(moduleWith(steps, rows),
                                              ParserConfig(&context));
    const int64_t element = rows == 1 ? 2 : this->element;
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
      last = run.training().next.at("w");
      lastGradients = gradients->at("w");
    }
    return history;
  }

  std::map<int64_t, double> last, lastGradients;

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

static std::string adafactorSteps() {
  return R"(
      %rs = training.mean %g of %w over [1, 2] squared
          : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3xf32>
      %cs = training.mean %g of %w over [0, 1] squared
          : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<5xf32>
      %r = training.moving_mean %rs state f32 : tensor<3xf32>
      %c = training.moving_mean %cs state f32 : tensor<5xf32>
      %m = training.mean %r over [0, 1] : tensor<3xf32> -> tensor<f32>
      %s = training.precondition %g by %r, %c, %m rows [0, 1]
          : tensor<3x5xf32>, tensor<3xf32>, tensor<5xf32>, tensor<f32>
      %q = training.mean %s over [0, 2] squared : tensor<3x5xf32> -> tensor<f32>
      %u = training.update %w, %s adafactor mean_square(%q : tensor<f32>) states []
          : tensor<3x5xf32>, tensor<3x5xf32>)";
}

namespace {

/// Means of squares of 3 rows and 5 columns, as Adafactor keeps them.
struct KeptMeans {
  std::vector<double> rows = std::vector<double>(3),
                      columns = std::vector<double>(5);

  /// `share` of what was kept, and the rest of the means of `g`.
  void blend(double share, const std::vector<double> &g) {
    for (double &mean : rows)
      mean *= share;
    for (double &mean : columns)
      mean *= share;
    for (int i = 0; i < 15; ++i) {
      double square = (1 - share) * (g[i] * g[i] + 1e-12);
      rows[i / 5] += square / 5;
      columns[i % 5] += square / 3;
    }
  }

  /// What a step of gradients `g` takes of each weight.
  std::vector<double> steps(std::vector<double> g) const {
    double all = (rows[0] + rows[1] + rows[2]) / 3, squares = 0;
    for (int i = 0; i < 15; ++i) {
      g[i] /= std::sqrt(rows[i / 5] * columns[i % 5] / all);
      squares += g[i] * g[i] / 15;
    }
    for (double &step : g)
      step *= 1e-3 / std::max(1.0, std::sqrt(squares));
    return g;
  }
};

} // namespace

/// The first step has the means of its own squares alone: `1 - 1^-0.8` is 0.
TEST_F(UpdatesTest, Adafactor) {
  auto [lost, g] = firstStep(adafactorSteps(), 3);
  ASSERT_EQ(lost.size(), 15u);
  KeptMeans kept;
  kept.blend(0, g);
  std::vector<double> steps = kept.steps(g);
  for (int i = 0; i < 15; ++i)
    EXPECT_NEAR(lost[i], steps[i], 1e-14);
}

/// The second one has `2^-0.8` of its own, and the rest of the first.
TEST_F(UpdatesTest, AdafactorMovesItsMeans) {
  KeptMeans kept;
  kept.blend(0, firstStep(adafactorSteps(), 3).second);
  History history = runSteps(adafactorSteps(), 3, 2);
  std::vector<double> second;
  for (const auto &[at, value] : lastGradients)
    second.push_back(value);
  ASSERT_EQ(second.size(), 15u);
  kept.blend(1 - std::pow(2.0, -0.8), second);
  EXPECT_NEAR(history.weights[1] - history.weights[2],
              kept.steps(second)[element], 1e-14);
}

static std::string muonOf(const std::string &shape) {
  return "%m = training.momentum %w, %g state f32 : tensor<3x5xf32>, "
         "tensor<3x5xf32>\n"
         "%o = training.orthogonalize %m rows [0, 1] steps 5 : "
         "tensor<3x5xf32>\n" +
         shape;
}

/// A matrix of one row has one singular value, which is 1 at first.
TEST_F(UpdatesTest, MuonOfARow) {
  auto [lost, g] = firstStep(
      muonOf("%u = training.update %w, %o sgd states [] : tensor<3x5xf32>, "
             "tensor<3x5xf32>"),
      1);
  ASSERT_EQ(lost.size(), 5u);
  double value = 1, norm = 0;
  for (int i = 0; i < 5; ++i) {
    value = 3.4445 * value - 4.775 * std::pow(value, 3) +
            2.0315 * std::pow(value, 5);
    norm += g[i] * g[i];
  }
  for (int i = 0; i < 5; ++i)
    EXPECT_NEAR(lost[i], 1e-3 * value * g[i] / std::sqrt(norm), 1e-9);
}

/// Each column of three rows is turned; all singular values come near 1.
TEST_F(UpdatesTest, MuonMakesRowsNearlyOrthogonal) {
  auto [lost, g] = firstStep(
      muonOf("%u = training.update %w, %o sgd states [] : tensor<3x5xf32>, "
             "tensor<3x5xf32>"),
      3);
  double all = 0, along = 0;
  for (int i = 0; i < 15; ++i) {
    all += lost[i] * lost[i] * 1e6;
    along += lost[i] * g[i];
  }
  // The loss of two tokens has gradients of rank 2.
  EXPECT_GT(all, 2 * 0.6 * 0.6);
  EXPECT_LT(all, 2 * 1.3 * 1.3);
  EXPECT_GT(along, 0);
}
