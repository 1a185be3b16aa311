//===- Outputs.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Outputs.h"

#include "autopar/Session/Session.h"
#include "autopar/Support/FileScope.h"
#include "autopar/Support/Json.h"
#include "autopar/Transforms/Passes.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::bundle;
using namespace autopar::importer;
using namespace autopar::session;
using namespace autopar::transforms;
using namespace mlir;

static void addEstimate(PassManager &pm, const Bundle::Choice &choice,
                        const char *format, const std::string &output) {
  EstimatePassOptions options;
  options.format = format;
  options.output = output;
  options.explain = choice.explain;
  options.impact = choice.impact;
  options.verbose = choice.verbose;
  options.simulate = choice.simulate;
  options.seed = choice.seed;
  options.requests = choice.requests;
  pm.addPass(createEstimatePass(std::move(options)));
}

Result<std::map<std::string, std::string>>
autopar::bundle::estimateAll(const std::string &text,
                             const Bundle::Choice &choice) {
  const std::string name = "module.mlir";
  Session session;
  if (auto error = session.addModel(name, text))
    return *error;
  ModelRequest request;
  request.argument = name;
  auto pathOf = [](const char *output) {
    return std::string(FileScope::memory) + output;
  };
  auto error = session.run(request, [&](PassManager &pm) {
    addEstimate(pm, choice, "json", pathOf("report.json"));
    addEstimate(pm, choice, "text", pathOf("report.txt"));
    return success();
  });
  if (error)
    return *error;
  std::map<std::string, std::string> outputs;
  for (const auto &[path, written] : FileScope::current()->written())
    outputs[path.substr(std::string(FileScope::memory).size())] = written;
  auto report = nlohmann::ordered_json::parse(outputs["report.json"], nullptr,
                                              /*allow_exceptions=*/false);
  if (report.contains("plan"))
    outputs["plan.json"] = report["plan"].dump(2) + "\n";
  return outputs;
}
