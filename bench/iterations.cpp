//===- iterations.cpp - A space of training, priced -----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CONFIG is a config.json: bench/gpt3-175b/config.json is GPT-3 175B, whose
// plans on 64 A100s are what Calculon's space has of choices that are modelled
// here: tp, pp and dp that multiply to 64, sizes of microbatches, virtual
// stages of 1F1B, sequence parallelism, split optimizers, and what is computed
// again. Offloading, the kinds of collectives that tensor parallelism has, and
// what overlaps are choices of that space, too, that there are none of here:
// what overlaps is the runtime's. --space=order=all adds the links of each
// axis.
//
// Prints plans per second of CPU time of one core: of a cold library, whose
// strategies are made first, and, the best of --rounds, of a warm one. A plan
// counts where the memory of its own split was computed and, where that fits,
// its time; no bound leaves any out.
//
// On a core of a shared machine with two: 9,828 points, of which 713 fit, 5,947
// do not, and 3,168 are illegal (interleaved microbatches that are no groups);
// cold 133 ms, of which 67 ms make 36 strategies; warm 201,000 plans/s, 5.0 us
// a plan: of its instructions 25 % are prices of parts, 15 % read the program,
// 15 % lay layers out, 14 % run schedules of plans that fit, 13 % say what
// stages and devices have, 12 % are their memory.
//
// Built on demand: ninja iterations-bench && bin/iterations-bench CONFIG
//
//===----------------------------------------------------------------------===//

#include "autopar/Session/Session.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>
#include <ctime>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::importer;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::search;
using namespace autopar::session;

namespace cl = llvm::cl;

static cl::opt<std::string> config(cl::Positional, cl::Required,
                                   cl::desc("CONFIG"));
static cl::opt<std::string> hardware("hardware", cl::init("a100-80gb-sxm-8"));
static cl::opt<int64_t> devices("devices", cl::init(64));
static cl::list<int64_t> batches("batch", cl::CommaSeparated);
static cl::opt<int64_t> context("context", cl::init(2048));
static cl::opt<std::string>
    space("space",
          cl::init("cp=1,fsdp=off,zero=0|1,schedule=one_f_one_b|interleaved"));
static cl::opt<int64_t> rounds("rounds", cl::init(5));

static double cpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

namespace {

/// Of a search: what it found, and its CPU time.
struct Run {
  SearchResult result;
  double all = 0;

  double prices() const { return all - result.strategySeconds; }
};

/// One search on one thread.
Result<Run> searchOnce(Session &session, const ModelRequest &model,
                       const SearchRequest &request) {
  Run run;
  SearchControl control;
  control.threads = 1;
  double start = cpuSeconds();
  Result<SearchOutcome> outcome = session.search(model, request, control);
  double end = cpuSeconds();
  if (!outcome)
    return outcome.error();
  run.result = std::move(outcome->result);
  run.all = end - start;
  return run;
}

void print(const char *name, const Run &run) {
  const SearchProof &proof = run.result.proof;
  auto priced = static_cast<double>(proof.evaluated + proof.unfit);
  double prices = run.prices();
  llvm::outs() << llvm::format(
      "%s: %.0f ms, of which strategies %.0f ms and prices %.1f ms: %.0f "
      "plans/s of a core, %.2f us a plan\n",
      name, run.all * 1e3, run.result.strategySeconds * 1e3, prices * 1e3,
      priced / prices, prices / priced * 1e6);
}

SearchRequest requestOf(const std::string &cache) {
  SearchRequest request;
  SearchVariant &variant = request.variants.emplace_back();
  variant.base.target.hardware = ::hardware;
  variant.base.target.runtime = "megatron";
  variant.base.workload.phase = Phase::train;
  variant.base.workload.context = context;
  request.devices = {devices};
  request.batches.assign(batches.begin(), batches.end());
  if (request.batches.empty())
    request.batches = {64};
  request.cacheDirectory = cache;
  return request;
}

int run(const std::string &cache) {
  Session session;
  ModelRequest model;
  model.argument = config;
  SearchRequest request = requestOf(cache);
  Result<SearchSpace> limits = parseSearchSpace(space);
  if (!limits) {
    llvm::errs() << limits.error().str() << "\n";
    return 1;
  }
  request.space = std::move(*limits);
  Result<Run> cold = searchOnce(session, model, request);
  if (!cold) {
    llvm::errs() << cold.error().str() << "\n";
    return 1;
  }
  const SearchProof &proof = cold->result.proof;
  llvm::outs() << proof.space << " points of " << cold->result.strategies
               << " strategies: " << proof.evaluated << " fit, " << proof.unfit
               << " do not, " << proof.excluded << " excluded, "
               << proof.illegal << " illegal\n";
  print("cold", *cold);
  Run best = *cold;
  best.all = HUGE_VAL;
  for (int64_t round = 0; round < rounds; ++round)
    if (Result<Run> warm = searchOnce(session, model, request);
        warm && warm->prices() < best.prices())
      best = std::move(*warm);
  print("warm", best);
  return proof.excluded != 0;
}

} // namespace

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "a space of training\n");
  llvm::SmallString<128> cache;
  if (llvm::sys::fs::createUniqueDirectory("autopar-iterations", cache))
    return 1;
  int code = run(cache.str().str());
  llvm::sys::fs::remove_directories(cache);
  return code;
}
