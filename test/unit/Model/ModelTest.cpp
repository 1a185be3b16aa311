//===- ModelTest.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/Model.h"

#include "gtest/gtest.h"

using namespace autopar;
using namespace autopar::hub;
using namespace autopar::model;

TEST(Model, RefusesAssumptionsThatAreNotUtf8) {
  ModelFiles files;
  files.configPath = AUTOPAR_SOURCE_DIR "/models/llama-3.1-8b/config.json";
  Result<Model> model = readModel(files, {{"torch_dtype", "\xff"}});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().str(), "--assume=torch_dtype: is not UTF-8");
}
