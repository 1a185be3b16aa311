//===- ExpertPlanJson.h - A part of autopar.plan/1 --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_PLAN_EXPERTPLANJSON_H
#define AUTOPAR_LIB_PLAN_EXPERTPLANJSON_H

#include "autopar/Plan/ExpertPlan.h"

#include <nlohmann/json.hpp>

namespace autopar {

ExpertPlan readExpertPlan(const JsonReader &entry);
nlohmann::ordered_json writeExpertPlan(const ExpertPlan &plan);

} // namespace autopar

#endif // AUTOPAR_LIB_PLAN_EXPERTPLANJSON_H
