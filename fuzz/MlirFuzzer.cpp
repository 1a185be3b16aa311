//===- MlirFuzzer.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The input is a .mlir text, changed by its grammar: the scan that tools do
// first, the parser and the verifiers, all forms of printing, and passes.

#include "ListTensors.h"
#include "MlirMutator.h"

#include "autopar/InitAll.h"
#include "autopar/Support/SourceText.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/SourceMgr.h"

using namespace autopar;
using namespace mlir;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/// Of four changes, three know the grammar.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t most, unsigned seed) {
  if (seed % 4 == 0)
    return LLVMFuzzerMutate(data, size, most);
  std::string text(reinterpret_cast<const char *>(data), size);
  text = fuzz::MlirMutator(std::move(text), seed / 4).mutate();
  size = std::min(text.size(), most);
  std::copy_n(text.begin(), size, data);
  return size;
}

static void printForms(ModuleOp module) {
  module->print(llvm::nulls(), OpPrintingFlags().enableDebugInfo());
  module->print(llvm::nulls(), OpPrintingFlags().printGenericOpForm());
}

static void runPasses(ModuleOp module, StringRef passes) {
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager pm(module.getContext());
  if (succeeded(parsePassPipeline(passes, pm, llvm::nulls())) &&
      succeeded(pm.run(*copy)))
    copy->print(llvm::nulls());
}

static DialectRegistry makeRegistry() {
  registerAllPasses();
  DialectRegistry registry;
  registerAllDialects(registry);
  return registry;
}

extern "C" int LLVMFuzzerTestOneInput(const char *data, size_t size) {
  static const DialectRegistry registry = makeRegistry();
  std::string_view text(data, size);
  if (isBytecode(text) || checkSourceText(text, "in.mlir"))
    return 0;
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler(
      [](Diagnostic &diagnostic) { llvm::nulls() << diagnostic.str(); });
  // The lexer needs the zero byte that a copy ends with.
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy({data, size}, "in.mlir"), {});
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 0;
  printForms(*module);
  fuzz::listFewTensors(*module);
  runPasses(*module, "autopar-propagate,autopar-insert-collectives,cse");
  runPasses(*module, "autopar-plan{shard-tp=2 estimate=json "
                     "report-output=/dev/null}");
  return 0;
}
