//===- DegreeNames.h - Degrees in launch tables -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LAUNCH_DEGREENAMES_H
#define AUTOPAR_LIB_LAUNCH_DEGREENAMES_H

#include "autopar/Plan/Degrees.h"

#include <string_view>
#include <utility>

namespace autopar::launch {

/// The members of `Degrees`, by the names that tables use for them.
inline constexpr std::pair<std::string_view,
                           std::optional<int64_t> plan::Degrees::*>
    degreeMembers[] = {{"tp", &plan::Degrees::tp},
                       {"cp", &plan::Degrees::cp},
                       {"dp", &plan::Degrees::dp},
                       {"ep", &plan::Degrees::ep},
                       {"etp", &plan::Degrees::etp},
                       {"dcp", &plan::Degrees::dcp},
                       {"attention_tp", &plan::Degrees::attentionTp},
                       {"fsdp", &plan::Degrees::fsdp}};

} // namespace autopar::launch

#endif // AUTOPAR_LIB_LAUNCH_DEGREENAMES_H
