//===- PlanFuzzer.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The input is a plan, a runtime or the text of a mesh.

#include "MemoryFile.h"

#include "autopar/Plan/Degrees.h"
#include "autopar/Runtime/Runtime.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::plan;
using namespace autopar::runtime;

/// A plan that is read, written and read again is the same.
static void checkPlan(std::string_view text) {
  Result<JsonDocument> document = JsonDocument::parse(text, "plan.json");
  if (!document)
    return;
  Result<Plan> plan = readPlan(*document);
  if (!plan)
    return;
  std::string written = writePlan(*plan);
  Result<JsonDocument> again = JsonDocument::parse(written, "written.json");
  if (!again)
    __builtin_trap();
  Result<Plan> same = readPlan(*again);
  if (!same || writePlan(*same) != written)
    __builtin_trap();
}

/// What follows from a mesh follows once, and its degrees make a mesh.
static void checkMesh(Plan plan) {
  plan.devices();
  if (completeDegrees(plan))
    return;
  std::string complete = meshText(plan);
  if (completeDegrees(plan) || meshText(plan) != complete)
    __builtin_trap();
  Result<MeshPlan> mesh = planMesh(degreesOf(plan));
  if (!mesh)
    return;
  setMesh(plan, *mesh);
  // Degrees of the user's own may be products of axes that are gone.
  bool own = false;
  for (const PlanDegree &degree : plan.degrees)
    own |= !parseDegree(degree.name);
  if (completeDegrees(plan) && !own)
    __builtin_trap();
}

extern "C" int LLVMFuzzerTestOneInput(const char *data, size_t size) {
  std::string_view text(data, size);
  checkPlan(text);
  if (Result<MeshPlan> mesh = parseMesh(text))
    checkMesh({mesh->axes, mesh->degrees});
  std::vector<Override> overrides = {{"runtimes.vllm.host_time", 1e300}};
  for (size_t count : {0, 1}) {
    overrides.resize(count, {"runtimes.a.kv_block_tokens.value", 0.5});
    std::vector<bool> used;
    Result<Runtime> runtime =
        readRuntime(fuzz::memoryFile(text), overrides, used);
    if (runtime)
      unusedRuntimeOverride(overrides, used);
  }
  return 0;
}
