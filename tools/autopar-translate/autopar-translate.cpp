//===- autopar-translate.cpp - Models in, IR out --------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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
    "import-hf", cl::Required, cl::cat(category), cl::value_desc("path"),
    cl::desc("Import a Hugging Face model: a config.json, a directory that "
             "has one, or '-' for standard input"));
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

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Imports a model into the transformer dialect.\n\n"
      "  autopar-translate --import-hf models/llama-3.3-70b -o model.mlir\n"
      "  autopar-opt --shard-tp=8 --estimate model.mlir\n");

  Result<Model> model = readModel(importHF);
  if (!model)
    return fail(model.error().str());
  MLIRContext context(MLIRContext::Threading::DISABLED);
  Result<OwningOpRef<ModuleOp>> imported = importModel(&context, *model);
  if (!imported)
    return fail(imported.error().str());
  OwningOpRef<ModuleOp> module = std::move(*imported);
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
