//===- TrainedModelsTest.cpp - Parameters of models by their sizes --------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Session/Session.h"
#include "autopar/Support/File.h"
#include "autopar/Validation/TrainedModel.h"
#include "autopar/Validation/TrainingRows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <unistd.h>

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::report;
using namespace autopar::session;
using namespace autopar::validation;

namespace {

class TrainedModels : public testing::Test {
protected:
  void SetUp() override { setenv("AUTOPAR_DATA", AUTOPAR_SOURCE_DIR, 1); }

  /// Parameters of the model of `config`, in 1e9.
  double parametersOf(const std::string &config) {
    auto [known, isNew] = counts.emplace(config, 0);
    if (!isNew)
      return known->second;
    std::string file =
        testing::TempDir() + "/trained-" + std::to_string(getpid()) + ".json";
    EXPECT_TRUE(writeFile(file, config));
    ModelRequest request;
    request.argument = file;
    Result<ModelReport> facts = Session().describe(request);
    EXPECT_TRUE(facts) << facts.error().str() << "\n" << config;
    if (facts)
      known->second = double(facts->parameters.int64().value_or(0)) / 1e9;
    return known->second;
  }

private:
  std::map<std::string, double> counts;
};

} // namespace

/// llm-foundry counts 29,975,214,080 in MPT-30b, with positions of 2,048
/// tokens.
TEST_F(TrainedModels, CountsWhatOthersCount) {
  TrainingRow row;
  row.model = "MPT-30b";
  TrainedArchitecture &sizes = row.architecture.emplace();
  sizes.layers = 48;
  sizes.hidden = 7168;
  sizes.heads = 56;
  sizes.width = 28672;
  sizes.gated = false;
  sizes.vocabulary = 50368;
  row.sequenceTokens = 2048;
  Result<TrainedConfig> config = trainedConfigOf(row);
  ASSERT_TRUE(config) << config.error().str();
  EXPECT_DOUBLE_EQ(parametersOf(config->json), 29.97521408);
}

TEST_F(TrainedModels, MeasuredRowsHaveTheirParameters) {
  std::string path = (std::filesystem::path(AUTOPAR_SOURCE_DIR).parent_path() /
                      "shared/data/measured/training.json")
                         .string();
  if (!fileExists(path))
    GTEST_SKIP() << "no measured rows beside the repository";
  TrainingRows read = *readTrainingRows(*readTable(path));
  double most = 0;
  std::string where;
  for (const TrainingRow &row : read.rows) {
    Result<TrainedConfig> config = trainedConfigOf(row);
    if (!config)
      continue;
    double parameters = parametersOf(config->json);
    if (!row.parametersBillion)
      continue;
    double difference = std::abs(parameters / *row.parametersBillion - 1);
    if (difference > most) {
      most = difference;
      where = row.id + ", " + row.model;
    }
  }
  std::printf("largest difference: %.2f %% (%s)\n", most * 100, where.c_str());
  EXPECT_LT(most, 0.01);
}
