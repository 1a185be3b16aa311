//===- autopar-opt.cpp - mlir-opt, with product flags ---------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductFlags.h"
#include "autopar/Bundle/BundlePass.h"
#include "autopar/Hub/Hub.h"
#include "autopar/InitAll.h"
#include "autopar/Session/SearchPass.h"
#include "autopar/Support/File.h"
#include "autopar/Support/SourceText.h"
#include "autopar/Transforms/Price/ReportPass.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace autopar;
using namespace autopar::bundle;
using namespace autopar::hub;
using namespace autopar::session;
using namespace autopar::transforms;
using namespace mlir;

static int fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

namespace {

/// Detects whether a report goes to standard output. If one does, the IR does
/// not.
class ReportWatch : public PassInstrumentation {
public:
  explicit ReportWatch(bool &reports) : reports(reports) {}

  void runAfterPass(Pass *pass, Operation *) override {
    const ReportPass *report = ReportPass::from(*pass);
    reports |= report && report->destination() == "-";
  }

private:
  bool &reports;
};

/// Runs as the last pass if the IR is not printed, because printing the IR
/// would take as long as writing the report.
class DropUnread : public PassWrapper<DropUnread, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DropUnread)

  explicit DropUnread(const bool &isUnread) : isUnread(isUnread) {}
  StringRef getArgument() const override { return "autopar-drop-unread"; }
  StringRef getDescription() const override {
    return "Drops what would not be printed; by hand, nothing";
  }

  void runOnOperation() override {
    if (!isUnread)
      return markAllAnalysesPreserved();
    for (Region &region : getOperation()->getRegions())
      for (Block &block : region)
        block.clear();
  }

private:
  const bool &isUnread;
};

} // namespace

/// Returns `error`, which is about an unreadable file. If the file's name is
/// that of a model, it adds a note.
static Error explainInput(const std::string &file, Error error) {
  std::vector<std::string> models = bundledModels();
  if (error.note.empty() && llvm::is_contained(models, file))
    error.note = file + " is a model: autopar estimate " + file +
                 ", or autopar-translate --import-hf " + file +
                 " | autopar-opt, and flags behind each";
  return error;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  endOnClosedPipe(0);
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  registerAutoparSessionPasses();
  registerAutoparBundlePasses();
  // The pass is registered, because written pipelines may contain it.
  registerPass([] {
    static constexpr bool isUnread = false;
    return std::make_unique<DropUnread>(isUnread);
  });
  ProductFlags flags;
  (void)registerCLIOptions("", registry);
  flags.hideOthers();
  std::string inputFile, outputFile;
  std::tie(inputFile, outputFile) =
      parseCLIOptions(argc, argv, ProductFlags::overview());
  outliveClosedPipe();

  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return failed(MlirOptMain(llvm::outs(), nullptr, registry, config));
  MlirOptMainConfig explicitPasses = config;
  bool reports = false;
  config.setPassPipelineSetupFn([&](PassManager &pm) -> LogicalResult {
    // An error about a flag should not print a page of IR.
    pm.getContext()->printOpOnDiagnostic(false);
    if (failed(explicitPasses.setupPassPipeline(pm)) ||
        failed(flags.addPasses(pm)))
      return failure();
    pm.addInstrumentation(std::make_unique<ReportWatch>(reports));
    if (flags.addsPasses() && config.shouldDumpPassPipeline())
      pm.dump();
    if (outputFile == "-")
      pm.addPass(std::make_unique<DropUnread>(reports));
    return success();
  });

  if (outputFile != "-" && flags.reportsTo(outputFile))
    return fail("-o and --report-output name the same file, " + outputFile);
  Result<SourceText> source = readSourceText(inputFile, flags.trustsBytecode());
  if (!source)
    return fail(explainInput(inputFile, source.error()).str());

  // The output is written at the end, so that a failure overwrites nothing.
  std::string ir;
  llvm::raw_string_ostream os(ir);
  auto buffer = llvm::MemoryBuffer::getMemBuffer(source->text, source->name);
  if (failed(MlirOptMain(os, std::move(buffer), registry, config)))
    return 1;
  if (reports && outputFile == "-")
    return 0;
  Result<bool> written = writeOutput(outputFile, ir);
  if (!written)
    return fail(written.error().str());
  return 0;
}
