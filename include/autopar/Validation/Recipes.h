//===- Recipes.h - Settings that published recipes have ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_RECIPES_H
#define AUTOPAR_VALIDATION_RECIPES_H

#include "autopar/Program/Recomputation.h"
#include "autopar/Support/Result.h"
#include "autopar/Validation/TrainingRow.h"

#include <vector>

namespace autopar::validation {

/// Settings of recipes that rows do not state.
struct RecipeSettings {
  std::optional<program::Recomputation> recomputation;
  /// Whether a token goes once to each device that has one of its experts, and
  /// whether that runs beside another microbatch.
  std::optional<bool> sendsOnce, overlapsDispatch;
  /// Whether a graph has the whole iteration, so that no host waits.
  std::optional<bool> capturesIteration;
};

/// Settings of the rows that meet all conditions; empty conditions always hold.
struct Recipe {
  /// Words of the model's name, all of one entry; words of the system's name,
  /// one entry.
  std::vector<std::string> models, chips;
  std::vector<std::string> formats;
  /// Releases, "26.06": from the one, before the other.
  std::string from, before;
  RecipeSettings settings;
};

/// Files of `autopar.recipes/1`: later recipes hold over earlier ones.
Result<std::vector<Recipe>> readRecipes(const std::string &path);

/// The first release that `source` names, "26.04" of "(26.04.01 container)";
/// "" where it names none, which is before all.
std::string releaseOf(const std::string &source);

/// The settings of `recipes` for a row that trains in `format`.
RecipeSettings settingsOf(const std::vector<Recipe> &recipes,
                          const TrainingRow &row, const std::string &format);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_RECIPES_H
