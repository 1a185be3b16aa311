//===- autopar-translate.cpp - Models in, IR out --------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Import/LoadModel.h"
#include "autopar/Import/ReadModule.h"
#include "autopar/Import/Tensors.h"
#include "autopar/InitAll.h"
#include "autopar/ModuleGraph/ModuleGraph.h"
#include "autopar/Session/Checkpoints.h"
#include "autopar/Support/File.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace autopar;
using namespace autopar::checkpoint;
using namespace autopar::graph;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::session;
using namespace mlir;
namespace cl = llvm::cl;

static cl::OptionCategory category("autopar-translate options");

static cl::opt<std::string> inputFile(cl::Positional, cl::cat(category),
                                      cl::desc("[<model.mlir>]"));
static cl::opt<std::string> importHF(
    "import-hf", cl::cat(category), cl::value_desc("model"),
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
static cl::opt<bool> refresh("refresh", cl::cat(category),
                             cl::desc("Ask the hub, whatever caches have"));
static cl::opt<std::string> weightFormat(
    "weight-format", cl::cat(category), cl::value_desc("format"),
    cl::desc("Weights as the model is published in this format, a file of "
             "models/weight_formats: fp8, nvfp4, ... (default: as stored; "
             "name:format says the same)"));
static cl::list<std::string> assumptions(
    "assume", cl::cat(category), cl::value_desc("key=value"),
    cl::desc("Set a key of the config (a.b for nested ones) that it lacks or "
             "has wrong; reports say so. May be repeated"));
static cl::opt<std::string>
    outputFile("o", cl::init("-"), cl::cat(category), cl::value_desc("file"),
               cl::desc("Where the output goes (default: standard output)"));
static cl::opt<bool> listTensorsFlag(
    "list-tensors", cl::cat(category),
    cl::desc("Print the checkpoint's tensors instead of the IR, one line each: "
             "name, shape, dtype, bytes, tab-separated"));
static cl::opt<bool> exportDot(
    "export-dot", cl::cat(category),
    cl::desc("Print the module as a graph for Graphviz, or what else reads "
             "DOT, instead of the IR: ops are nodes, uses of values are edges, "
             "functions and stages are clusters"));
static cl::opt<bool>
    exportJsonGraph("export-json-graph", cl::cat(category),
                    cl::desc("Print the same graph as JSON (autopar.graph/1)"));
static cl::opt<std::string> weightsToVerify(
    "verify-weights", cl::cat(category), cl::value_desc("path"),
    cl::desc("Compare the model's tensors with a checkpoint instead of "
             "printing the IR: a directory, a *.index.json or a .safetensors "
             "file, of which only headers are read. The exit code is 0 where "
             "names, shapes, dtypes and bytes are equal, else 1; buffers that "
             "the model computes, and the stored copy of a tied head, are "
             "named but allowed"));
static cl::opt<bool>
    strict("verify-strict", cl::cat(category),
           cl::desc("Stored buffers and tied heads are differences too"));
static cl::opt<std::string> weightsToDescribe(
    "describe-weights", cl::cat(category), cl::value_desc("path"),
    cl::desc("Print what a checkpoint's headers tell without a model; also "
             "reads GGUF"));

static bool isImport() { return importHF.getNumOccurrences() != 0; }

static int fail(const std::string &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

static int write(const std::string &text) {
  Result<bool> written = writeOutput(outputFile, text);
  return written ? 0 : fail(written.error().str());
}

static int describe() {
  Result<CheckpointIndex> checkpoint = readCheckpoint(weightsToDescribe);
  if (!checkpoint)
    return fail(checkpoint.error().str());
  return write(describeWeights(*checkpoint));
}

static int verifyWeights(ModuleOp module) {
  Result<Verification> result = verifyModule(module, weightsToVerify, strict);
  if (!result)
    return result.error().message.empty() ? 1 : fail(result.error().str());
  return write(result->text) || !result->equal;
}

static int printGraph(ModuleOp module) {
  FailureOr<ModuleGraph> graph = buildGraph(module);
  if (failed(graph))
    return 1;
  return write(exportDot ? writeDot(*graph) : writeJson(*graph));
}

static int printModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (listTensorsFlag) {
    if (failed(listTensors(module, os)))
      return 1;
  } else {
    module.print(os);
    os << "\n";
  }
  return write(text);
}

static Result<OwningOpRef<ModuleOp>> loadModel(MLIRContext &context) {
  ModelRequest request;
  request.argument = importHF;
  request.hub = {offline, revision, showProgress, refresh};
  request.weightFormat = weightFormat;
  request.asServed = !listTensorsFlag && weightsToVerify.empty();
  for (const std::string &text : assumptions) {
    Result<ConfigAssumption> assumption = parseAssumption(text);
    if (!assumption)
      return assumption.error();
    request.assumptions.push_back(std::move(*assumption));
  }
  return autopar::importer::loadModel(&context, request);
}

/// Prints `error`, unless it has no message: such an error has been printed
/// already. Returns the exit code.
static int fail(const Error &error) {
  return error.message.empty() ? 1 : fail(error.str());
}

static int runOn(ModuleOp module) {
  if (exportDot || exportJsonGraph)
    return printGraph(module);
  return weightsToVerify.empty() ? printModule(module) : verifyWeights(module);
}

static int runOnFile(MLIRContext &context) {
  DialectRegistry registry;
  registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  Result<std::unique_ptr<ModuleFile>> file =
      ModuleFile::read(context, inputFile);
  return file ? runOn((*file)->module()) : fail(file.error());
}

static int runOnModel(MLIRContext &context) {
  Result<OwningOpRef<ModuleOp>> module = loadModel(context);
  return module ? runOn(**module) : fail(module.error());
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  endOnClosedPipe(0);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Imports a model into the transformer dialect.\n\n"
      "  autopar-translate --import-hf llama-3.3-70b -o model.mlir\n"
      "  autopar-opt --shard-tp=8 --estimate model.mlir\n"
      "  autopar-translate --verify-weights path/to/checkpoint model.mlir\n");
  outliveClosedPipe();

  if (!weightsToVerify.empty() && listTensorsFlag)
    return fail("--list-tensors and --verify-weights exclude each other");
  if (exportDot + exportJsonGraph + listTensorsFlag + !weightsToVerify.empty() >
      1)
    return fail("--export-dot, --export-json-graph, --list-tensors and "
                "--verify-weights exclude each other");
  if (strict && weightsToVerify.empty())
    return fail("--verify-strict needs --verify-weights");
  if (!weightsToDescribe.empty())
    return inputFile.empty() && !isImport() && weightsToVerify.empty()
               ? describe()
               : fail("--describe-weights takes no model");
  if (inputFile.empty() != isImport())
    return fail("expected either --import-hf=<model> or a .mlir file");

  MLIRContext context(MLIRContext::Threading::DISABLED);
  return isImport() ? runOnModel(context) : runOnFile(context);
}
