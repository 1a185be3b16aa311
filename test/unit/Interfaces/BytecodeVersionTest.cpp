//===- BytecodeVersionTest.cpp --------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interfaces/BytecodeVersion.h"

#include "autopar/Dialect/Parallel/Parallel.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace mlir;

namespace {

class BytecodeVersionTest : public testing::Test {
protected:
  BytecodeVersionTest()
      : errors(&context, [this](Diagnostic &diagnostic) {
          message += diagnostic.str();
        }) {
    context.loadDialect<parallel::ParallelDialect>();
  }

  /// A module, or a mesh, as bytecode of that version.
  std::string write(uint64_t version,
                    const char *text = "parallel.mesh(tp = 8)") {
    auto module = parseSourceString<ModuleOp>(text, &context);
    BytecodeWriterConfig config;
    config.setDialectVersion<parallel::ParallelDialect>(
        std::make_unique<BytecodeVersion>(version));
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    EXPECT_TRUE(succeeded(writeBytecodeToFile(*module, os, config)));
    return bytes;
  }

  MLIRContext context;
  std::string message;
  ScopedDiagnosticHandler errors;
};

} // namespace

TEST_F(BytecodeVersionTest, IsReadAsItWasWritten) {
  auto module =
      parseSourceString<ModuleOp>(write(BytecodeVersion::current), &context);
  ASSERT_TRUE(module) << message;
  parallel::MeshOp mesh = *module->getOps<parallel::MeshOp>().begin();
  EXPECT_EQ(mesh.getAxisSize("tp"), 8);
}

// Version 7 added knobs.
TEST_F(BytecodeVersionTest, ReadsStrategiesOfOlderFiles) {
  const char *text =
      "parallel.strategy zero(1) knobs {dropout = 1.0e-01 : f64}";
  for (uint64_t version : {6, 7}) {
    auto module = parseSourceString<ModuleOp>(write(version, text), &context);
    ASSERT_TRUE(module) << message;
    parallel::StrategyOp strategy =
        *module->getOps<parallel::StrategyOp>().begin();
    EXPECT_EQ(strategy.getZero(), 1u);
    EXPECT_EQ(strategy.getKnobs().has_value(), version == 7);
  }
}

TEST_F(BytecodeVersionTest, RefusesWhatIsNewer) {
  EXPECT_FALSE(parseSourceString<ModuleOp>(write(BytecodeVersion::current + 1),
                                           &context));
  std::string newest = std::to_string(BytecodeVersion::current),
              newer = std::to_string(BytecodeVersion::current + 1);
  EXPECT_NE(message.find("is of version " + newer +
                         " of dialect 'parallel'; this autopar reads up to " +
                         newest),
            std::string::npos)
      << message;
}
