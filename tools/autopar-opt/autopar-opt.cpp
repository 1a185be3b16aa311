//===- autopar-opt.cpp - mlir-opt, with product flags ---------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductFlags.h"
#include "autopar/InitAll.h"
#include "autopar/Support/File.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace autopar;
using namespace mlir;

static int fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  ProductFlags flags;
  (void)registerCLIOptions("", registry);
  flags.hideOthers();
  auto [inputFile, outputFile] =
      parseCLIOptions(argc, argv, ProductFlags::overview());

  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return failed(MlirOptMain(llvm::outs(), nullptr, registry, config));
  MlirOptMainConfig explicitPasses = config;
  config.setPassPipelineSetupFn([&](PassManager &pm) -> LogicalResult {
    if (failed(explicitPasses.setupPassPipeline(pm)))
      return failure();
    return flags.addPasses(pm);
  });

  Result<std::string> text = readFile(inputFile);
  if (!text)
    return fail(text.error().str());
  std::string name = inputFile == "-" ? "<stdin>" : inputFile;
  std::optional<Error> refused = flags.checkInput(*text, name);
  if (refused)
    return fail(refused->str());

  std::string error;
  std::unique_ptr<llvm::ToolOutputFile> output =
      flags.printsIR(outputFile) ? openOutputFile(outputFile, &error) : nullptr;
  if (flags.printsIR(outputFile) && !output)
    return fail(error);
  auto buffer = llvm::MemoryBuffer::getMemBuffer(*text, name);
  if (failed(MlirOptMain(output ? output->os() : llvm::nulls(),
                         std::move(buffer), registry, config)))
    return 1;
  if (output)
    output->keep();
  return 0;
}
