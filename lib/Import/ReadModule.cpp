//===- ReadModule.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Import/ReadModule.h"

#include "autopar/Support/SourceText.h"

#include "mlir/Parser/Parser.h"

using namespace autopar;
using namespace autopar::importer;
using namespace mlir;

Result<std::unique_ptr<ModuleFile>> ModuleFile::read(MLIRContext &context,
                                                     const std::string &path) {
  Result<SourceText> source = readSourceText(path);
  if (!source)
    return source.error();
  std::unique_ptr<ModuleFile> file(new ModuleFile);
  file->sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(source->text, source->name),
      llvm::SMLoc());
  file->handler =
      std::make_unique<SourceMgrDiagnosticHandler>(file->sources, &context);
  file->op = parseSourceFile<ModuleOp>(file->sources, &context);
  if (!file->op)
    return Error();
  return file;
}
