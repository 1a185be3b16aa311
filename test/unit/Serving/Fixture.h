//===- Fixture.h - The deployment of the tests ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TEST_UNIT_SERVING_FIXTURE_H
#define AUTOPAR_TEST_UNIT_SERVING_FIXTURE_H

#include "../Cost/Fixtures.h"

#include "autopar/Serving/QueueModel.h"

#include <gtest/gtest.h>

namespace autopar::test {

/// Llama-3.3-70B on 8 devices, in an engine that fuses prompts and decodes.
struct ServingTest : testing::Test {
  ServingTest() {
    runtime.fusesPrompts = true;
    runtime.tokenBudget.value = 8192;
    runtime.maxSequences.value = 1024;
    runtime.promptStepShare.value = 1;
    runtime.kvBlockTokens.value = 16;
  }
  serving::SteadyState serve(const serving::ServedLoad &load) {
    serving::QueueModel server(program, machine, runtime);
    server.lay(makeLayout(8), /*replicas=*/1);
    serving::SteadyState state;
    EXPECT_FALSE(server.timesOf(load, state));
    return state;
  }

  hardware::Machine machine = makeMachine();
  runtime::Runtime runtime = makeRuntime();
  cost::CompiledProgram program{makeDecoder(), {true, true}};
};

} // namespace autopar::test

#endif // AUTOPAR_TEST_UNIT_SERVING_FIXTURE_H
