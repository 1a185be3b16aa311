// Prints what a model costs under two plans, and in what they differ.
#include "autopar/Plan/Degrees.h"
#include "autopar/Session/Session.h"
#include "autopar/Write/Text.h"

#include <cstdio>

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::pipelines;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::search;
using namespace autopar::session;
using namespace autopar::writing;

static int fail(const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.str().c_str());
  return 1;
}

static PlanRequest decodeOver(int64_t devices) {
  PlanRequest request;
  request.plan.setAxis("tp", devices);
  request.target.hardware = "h200-sxm-8";
  request.workload.phase = Phase::decode;
  request.workload.batch = 64;
  request.workload.context = 4096;
  return request;
}

int main(int argc, char **argv) {
  ModelRequest model;
  model.argument = argc > 1 ? argv[1] : "llama-3.1-8b";
  Session session;
  for (int64_t devices : {4, 8}) {
    Result<Report> report = session.estimate(model, decodeOver(devices));
    if (!report)
      return fail(report.error());
    std::printf("tp %d: %.3f us\n", static_cast<int>(devices),
                report->latency.stepTimeUs);
  }
  Result<Comparison> both =
      session.compare(model, decodeOver(4), decodeOver(8));
  if (!both)
    return fail(both.error());
  std::fputs(writeText(both->differences).c_str(), stdout);
}
