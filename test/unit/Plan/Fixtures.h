//===- Fixtures.h - Plans that tests are about ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TEST_UNIT_PLAN_FIXTURES_H
#define AUTOPAR_TEST_UNIT_PLAN_FIXTURES_H

#include "autopar/Plan/NeutralAxes.h"

#include <gtest/gtest.h>

namespace autopar::test {

/// The plan that flags of these degrees make.
inline plan::Plan planOf(const plan::Degrees &degrees) {
  plan::Plan plan;
  Result<plan::MeshPlan> mesh = planCanonicalMesh(degrees);
  EXPECT_TRUE(mesh) << mesh.error().str();
  if (mesh)
    setMesh(plan, *mesh);
  EXPECT_FALSE(completeDegrees(plan));
  return plan;
}

} // namespace autopar::test

#endif // AUTOPAR_TEST_UNIT_PLAN_FIXTURES_H
