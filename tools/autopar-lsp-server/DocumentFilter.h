//===- DocumentFilter.h - What an editor sends, scanned first ---*- C++ -*-===//
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
/// as they come. Each is scanned as files of other tools are; for one that is
/// refused the server gets an empty text, and the editor where and why instead
/// of the server's diagnostics. Documents come whole to the server. A request
/// to read bytecode is none that it knows.
class DocumentFilter {
public:
  /// Puts pipes in the place of standard input and output.
  DocumentFilter();
  /// Hands on what the server has still to say, when it is done.
  void finish();

private:
  struct Document {
    std::string text;
    /// The diagnostics of a text that is refused.
    std::optional<llvm::json::Array> refusal;
  };

  void filterInput(int from, int to);
  void filterOutput(int from, int to);
  std::string fromEditor(const std::string &message);
  std::string fromServer(const std::string &message);
  void open(llvm::json::Object &document);
  void change(llvm::json::Object &parameters);
  /// Takes a text; returns what of it the server may see.
  std::string take(Document &document, std::string text);
  /// The document that `identifier` names.
  Document &documentOf(const llvm::json::Object &identifier);

  std::mutex mutex;
  llvm::StringMap<Document> documents;
  std::thread output;
};

} // namespace autopar

#endif // AUTOPAR_TOOLS_LSP_SERVER_DOCUMENTFILTER_H
