//===- Input.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Input.h"

#include "autopar/InitAll.h"
#include "autopar/Support/File.h"
#include "autopar/Support/SourceText.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace autopar;
using namespace mlir;

static OwningOpRef<ModuleOp> fail(const Error &error) {
  llvm::errs() << "error: " << error.str() << "\n";
  return nullptr;
}

OwningOpRef<ModuleOp> autopar::parseModel(MLIRContext &context,
                                          const std::string &path) {
  Result<std::string> text = readFile(path);
  if (!text)
    return fail(text.error());
  std::string name = path == "-" ? "<stdin>" : path;
  if (isBytecode(*text))
    return fail({name, "is MLIR bytecode, expected text", ""});
  if (std::optional<Error> refused = checkSourceText(*text, name))
    return fail(*refused);
  DialectRegistry registry;
  registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(*text, name),
                             llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  return parseSourceFile<ModuleOp>(sources, &context);
}
