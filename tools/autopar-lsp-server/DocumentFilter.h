//===- DocumentFilter.h - Scans an editor's documents -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_LSP_SERVER_DOCUMENTFILTER_H
#define AUTOPAR_TOOLS_LSP_SERVER_DOCUMENTFILTER_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace autopar {

/// Stands between an editor and MLIR's language server, which parses documents
/// as they arrive. Each document is scanned as files of other tools are. If a
/// document is refused, the server gets an empty text, and the editor gets the
/// error instead of the server's diagnostics. Documents reach the server whole.
/// Requests to read bytecode are not forwarded.
class DocumentFilter {
public:
  /// Replaces standard input and standard output by pipes.
  DocumentFilter();
  /// Forwards the remaining output of the server after the server has finished.
  void finish();

private:
  struct Document {
    std::string text;
    /// The diagnostics for a refused text; nothing if the text was accepted.
    std::optional<llvm::json::Array> refusal;
  };

  void filterInput(int from, int to);
  void filterOutput(int from, int to);
  std::string fromEditor(const std::string &message);
  std::string fromServer(const std::string &message);
  void open(llvm::json::Object &document);
  void change(llvm::json::Object &parameters);
  /// Stores a text in `document`. Returns the text that the server gets.
  std::string take(Document &document, std::string text);
  /// Returns the document that `identifier` names.
  Document &documentOf(const llvm::json::Object &identifier);

  std::mutex mutex;
  llvm::StringMap<Document> documents;
  std::thread output;
};

} // namespace autopar

#endif // AUTOPAR_TOOLS_LSP_SERVER_DOCUMENTFILTER_H
