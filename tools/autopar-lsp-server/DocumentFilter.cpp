//===- DocumentFilter.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DocumentFilter.h"

#include "autopar/Support/SourceText.h"

#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace autopar;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Reading and writing messages
//===----------------------------------------------------------------------===//

/// Reads a message with its header. Returns nothing at the end of the file.
static std::optional<std::string> readMessage(std::FILE *file) {
  size_t size = 0;
  char line[256];
  while (std::fgets(line, sizeof(line), file)) {
    llvm::StringRef header = llvm::StringRef(line).trim();
    if (header.consume_front("Content-Length:"))
      (void)header.trim().getAsInteger(10, size);
    else if (header.empty() && size > 0)
      break;
  }
  std::string text(size, '\0');
  if (size == 0 || std::fread(text.data(), 1, size, file) != size)
    return std::nullopt;
  return text;
}

static void writeMessage(std::FILE *file, const std::string &text) {
  std::fprintf(file, "Content-Length: %zu\r\n\r\n", text.size());
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

static std::string toText(json::Object &&message) {
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(message));
  return text;
}

/// Returns the message as a JSON object; nothing if it is none.
static std::optional<json::Object> parse(const std::string &text) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  if (json::Object *object = value->getAsObject())
    return std::move(*object);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Filtering documents
//===----------------------------------------------------------------------===//

/// Returns the diagnostics that editors show for an error at `place`,
/// "line:column" counted from 1.
static json::Array diagnosticsOf(const Error &error, llvm::StringRef place) {
  int64_t line = 1, column = 1;
  (void)place.split(':').first.getAsInteger(10, line);
  (void)place.split(':').second.getAsInteger(10, column);
  json::Object begin{{"line", line - 1}, {"character", column - 1}};
  json::Object end{{"line", line - 1}, {"character", column}};
  json::Object range{{"start", std::move(begin)}, {"end", std::move(end)}};
  return json::Array{json::Object{{"range", std::move(range)},
                                  {"severity", 1},
                                  {"source", "autopar"},
                                  {"message", error.message}}};
}

std::string DocumentFilter::take(Document &document, std::string text) {
  document.text = std::move(text);
  document.refusal.reset();
  std::optional<Error> error = checkSourceText(document.text, "");
  if (!error)
    return document.text;
  document.refusal =
      diagnosticsOf(*error, llvm::StringRef(error->where).ltrim(':'));
  return "";
}

DocumentFilter::Document &
DocumentFilter::documentOf(const json::Object &identifier) {
  llvm::StringRef name = identifier.getString("uri").value_or("");
  // Editor and server may spell the same address in different ways.
  llvm::Expected<llvm::lsp::URIForFile> file =
      llvm::lsp::URIForFile::fromURI(name);
  if (file)
    return documents[file->file()];
  llvm::consumeError(file.takeError());
  return documents[name];
}

void DocumentFilter::open(json::Object &document) {
  std::string text = document.getString("text").value_or("").str();
  document["text"] = take(documentOf(document), std::move(text));
}

void DocumentFilter::change(json::Object &parameters) {
  json::Object *identifier = parameters.getObject("textDocument");
  json::Array *changes = parameters.getArray("contentChanges");
  if (!identifier || !changes)
    return;
  Document &document = documentOf(*identifier);
  std::string text = document.text;
  for (const json::Value &value : *changes) {
    llvm::lsp::TextDocumentContentChangeEvent event;
    json::Path::Root root;
    if (!fromJSON(value, event, root) || failed(event.applyTo(text)))
      return;
  }
  json::Object whole{{"text", take(document, std::move(text))}};
  *changes = json::Array{std::move(whole)};
}

std::string DocumentFilter::fromEditor(const std::string &message) {
  std::optional<json::Object> object = parse(message);
  if (!object)
    return message;
  llvm::StringRef method = object->getString("method").value_or("");
  json::Object *parameters = object->getObject("params");
  json::Object *document =
      parameters ? parameters->getObject("textDocument") : nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  if (method == "textDocument/didOpen" && document)
    open(*document);
  else if (method == "textDocument/didChange" && document)
    change(*parameters);
  else if (method == "mlir/convertFromBytecode")
    (*object)["method"] = "autopar/bytecodeIsNotRead";
  else
    return message;
  return toText(std::move(*object));
}

std::string DocumentFilter::fromServer(const std::string &message) {
  std::optional<json::Object> object = parse(message);
  json::Object *parameters = object ? object->getObject("params") : nullptr;
  if (!parameters ||
      object->getString("method") != "textDocument/publishDiagnostics")
    return message;
  std::lock_guard<std::mutex> lock(mutex);
  const Document &document = documentOf(*parameters);
  if (!document.refusal)
    return message;
  (*parameters)["diagnostics"] = json::Array(*document.refusal);
  return toText(std::move(*object));
}

//===----------------------------------------------------------------------===//
// Replacing standard streams by pipes
//===----------------------------------------------------------------------===//

void DocumentFilter::filterInput(int from, int to) {
  std::FILE *in = fdopen(from, "rb"), *out = fdopen(to, "wb");
  while (std::optional<std::string> message = readMessage(in))
    writeMessage(out, fromEditor(*message));
  std::fclose(out);
}

void DocumentFilter::filterOutput(int from, int to) {
  std::FILE *in = fdopen(from, "rb"), *out = fdopen(to, "wb");
  while (std::optional<std::string> message = readMessage(in))
    writeMessage(out, fromServer(*message));
}

/// Makes a pipe whose end number `stream` (0: to read, 1: to write) replaces
/// this standard stream. Returns the other end of the pipe, and the original
/// stream.
static std::pair<int, int> putPipe(int stream) {
  int ends[2];
  int real = dup(stream);
  if (real < 0 || pipe(ends) != 0 || dup2(ends[stream], stream) < 0) {
    std::perror("error: cannot make a pipe");
    std::exit(1);
  }
  close(ends[stream]);
  return {ends[1 - stream], real};
}

DocumentFilter::DocumentFilter() {
  auto [toServer, editor] = putPipe(STDIN_FILENO);
  auto [fromServer, screen] = putPipe(STDOUT_FILENO);
  // The thread ends when the editor ends its input, or with the process.
  std::thread([this, from = editor, to = toServer] {
    filterInput(from, to);
  }).detach();
  output = std::thread(
      [this, from = fromServer, to = screen] { filterOutput(from, to); });
}

void DocumentFilter::finish() {
  llvm::outs().flush();
  std::fflush(stdout);
  close(STDOUT_FILENO);
  output.join();
}
