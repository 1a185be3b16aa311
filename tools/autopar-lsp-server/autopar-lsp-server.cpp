//===- autopar-lsp-server.cpp - Live diagnostics in an editor -------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DocumentFilter.h"
#include "autopar/InitAll.h"
#include "autopar/Support/File.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

/// Returns whether no flag asks for help, or for the format that MLIR's own
/// tests use.
static bool speaksToEditor(llvm::ArrayRef<char *> arguments) {
  return llvm::none_of(arguments.drop_front(), [](llvm::StringRef text) {
    llvm::StringRef name = text.ltrim('-');
    return name.starts_with("help") || name.starts_with("version") ||
           name == "lit-test" || name.starts_with("input-style");
  });
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  autopar::registerAllDialects(registry);
  autopar::outliveClosedPipe();
  if (!speaksToEditor(llvm::ArrayRef(argv, argc)))
    return failed(mlir::MlirLspServerMain(argc, argv, registry));
  // The filter lives as long as the process, because one of its threads waits
  // for the editor.
  static auto *filter = new autopar::DocumentFilter();
  bool ended = failed(mlir::MlirLspServerMain(argc, argv, registry));
  filter->finish();
  return ended;
}
