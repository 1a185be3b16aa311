//===- BundlePass.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Bundle/BundlePass.h"

#include "autopar/Bundle/Bundle.h"
#include "autopar/Support/File.h"
#include "autopar/Transforms/Price/Estimate.h"

namespace autopar::bundle {
#define GEN_PASS_DEF_BUNDLEPASS
#include "autopar/Bundle/Passes.h.inc"
} // namespace autopar::bundle

using namespace autopar;
using namespace autopar::bundle;
using namespace autopar::pipelines;
using namespace autopar::transforms;
using namespace mlir;

namespace {

struct BundlePass : autopar::bundle::impl::BundlePassBase<BundlePass> {
  using Base::Base;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    Result<bool> written = write();
    if (written)
      return;
    (void)emitError(getOperation(), written.error());
    signalPassFailure();
  }

  Result<bool> write() {
    std::string text;
    llvm::raw_string_ostream(text) << getOperation() << "\n";
    Bundle::Choice choice{explain, impact, verbose, simulate, seed, requests};
    Result<Bundle> bundle =
        makeBundle(text, choice, {flags.begin(), flags.end()});
    if (!bundle)
      return bundle.error();
    Result<std::string> bytes = packBundle(*bundle);
    return bytes ? writeOutput(output, *bytes) : bytes.error();
  }
};

} // namespace

LogicalResult autopar::bundle::addBundle(OpPassManager &pm,
                                         const PlanOptions &options,
                                         const std::string &output,
                                         std::vector<std::string> flags,
                                         PipelineErrorHandler onError) {
  if (options.estimate.empty())
    return onError("--bundle has no effect without --estimate");
  if (output.empty() || output == "-")
    return onError("--bundle=" + output +
                   ": a bundle is no text, expected the name of a file");
  BundlePassOptions bundle;
  bundle.output = output;
  bundle.flags.assign(flags.begin(), flags.end());
  fillDetail(options, bundle);
  pm.addPass(createBundlePass(std::move(bundle)));
  return success();
}
