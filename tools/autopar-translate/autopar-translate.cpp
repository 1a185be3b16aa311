//===- autopar-translate.cpp - Models in, IR out --------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Hub/Hub.h"
#include "autopar/Import/ImportModel.h"
#include "autopar/Import/Tensors.h"
#include "autopar/Support/File.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace autopar;
using namespace mlir;
namespace cl = llvm::cl;

static cl::OptionCategory category("autopar-translate options");

static cl::opt<std::string> importHF(
    "import-hf", cl::Required, cl::cat(category), cl::value_desc("model"),
    cl::desc("Import a Hugging Face model: a config.json, a directory that "
             "has one, '-' for standard input, the name of a bundled model, "
             "or org/name[@revision] on the hub (HF_TOKEN, HF_ENDPOINT), "
             "which is kept in AUTOPAR_CACHE (default: ~/.cache/autopar)"));
static cl::opt<std::string>
    revision("revision", cl::cat(category), cl::value_desc("revision"),
             cl::desc("Branch, tag or commit on the hub (default: main)"));
static cl::opt<bool>
    offline("offline", cl::cat(category),
            cl::desc("Never use the network (also: HF_HUB_OFFLINE=1)"));
static cl::opt<std::string>
    outputFile("o", cl::init("-"), cl::cat(category), cl::value_desc("file"),
               cl::desc("Where the output goes (default: standard output)"));
static cl::opt<bool> listTensorsFlag(
    "list-tensors", cl::cat(category),
    cl::desc("Print the checkpoint's tensors instead of the IR, one line each: "
             "name, shape, dtype, bytes, tab-separated"));

static int fail(const std::string &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

/// Shows what a long download does, where a person may be watching.
static void showProgress(const std::string &line) {
  static bool shown = false;
  if (!llvm::errs().is_displayed() || (line.empty() && !shown))
    return;
  shown = !line.empty();
  llvm::errs() << "\r\x1b[K" << line;
}

static Result<ModelConfig> readModel() {
  Result<ModelFiles> files =
      locateModel(importHF, {offline, revision, showProgress});
  if (!files)
    return files.error();
  Result<JsonDocument> document = JsonDocument::readFile(files->configPath);
  if (!document)
    return document.error();
  return readModelConfig(*document, files->name);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Imports a model into the transformer dialect.\n\n"
      "  autopar-translate --import-hf llama-3.3-70b -o model.mlir\n"
      "  autopar-opt --shard-tp=8 --estimate model.mlir\n");

  Result<ModelConfig> config = readModel();
  if (!config)
    return fail(config.error().str());
  MLIRContext context(MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = importModel(&context, *config);
  if (failed(verify(*module)))
    return 1;

  std::string text;
  llvm::raw_string_ostream os(text);
  if (listTensorsFlag) {
    if (failed(listTensors(*module, os)))
      return 1;
  } else {
    module->print(os);
    os << "\n";
  }
  Result<bool> written = writeOutput(outputFile, text);
  if (!written)
    return fail(written.error().str());
  return 0;
}
