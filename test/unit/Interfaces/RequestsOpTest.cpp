//===- RequestsOpTest.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Program/RequestKnobs.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transformer;

/// A key that the op does not define would be written as a foreign attribute.
TEST(RequestsOpTest, DefinesTheAttributeOfEachKnob) {
  for (const RequestKnob &knob : requestKnobs())
    EXPECT_TRUE(llvm::is_contained(RequestsOp::getAttributeNames(), knob.key))
        << knob.key;
}
