//===- Manifest.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"

#include "Zip.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/SHA256.h"

#include <nlohmann/json.hpp>

#include <set>

using namespace autopar;
using namespace autopar::bundle;

using Json = nlohmann::ordered_json;

std::string autopar::bundle::hashOf(const std::string &text) {
  auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return llvm::toHex(hash, /*LowerCase=*/true);
}

std::string autopar::bundle::ownVersion() { return AUTOPAR_VERSION; }
std::string autopar::bundle::llvmVersion() { return LLVM_VERSION_STRING; }

//===----------------------------------------------------------------------===//
// Writing manifests
//===----------------------------------------------------------------------===//

static Json describeFile(const Bundle &bundle, const std::string &name,
                         const std::string &text) {
  Json file = {
      {"name", name}, {"bytes", text.size()}, {"sha256", hashOf(text)}};
  if (auto path = bundle.paths.find(name); path != bundle.paths.end())
    file["path"] = path->second;
  return file;
}

std::string autopar::bundle::writeManifest(const Bundle &bundle) {
  const Bundle::Choice &choice = bundle.choice;
  Json files = Json::array();
  for (const auto &[name, text] : bundle.files)
    files.push_back(describeFile(bundle, name, text));
  Json root = {
      {"schema", "autopar.bundle/1"},
      {"model", bundle.model},
      {"versions",
       {{"autopar", bundle.autoparVersion}, {"llvm", bundle.llvmVersion}}},
      {"flags", bundle.flags},
      {"estimate",
       {{"explain", choice.explain},
        {"impact", choice.impact},
        {"verbose", choice.verbose},
        {"simulate", choice.simulate},
        {"seed", choice.seed},
        {"requests", choice.requests}}},
      {"files", std::move(files)}};
  return root.dump(2, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace) +
         "\n";
}

//===----------------------------------------------------------------------===//
// Reading manifests and bundles
//===----------------------------------------------------------------------===//

static void readChoice(const JsonReader &reader, Bundle::Choice &choice) {
  reader.allowOnly(
      {"explain", "impact", "verbose", "simulate", "seed", "requests"});
  choice.explain = reader.boolean("explain");
  choice.impact = reader.boolean("impact");
  choice.verbose = reader.boolean("verbose");
  choice.simulate = reader.integer("simulate", 0, limits::maxSimulatedRequests);
  choice.seed = static_cast<uint64_t>(reader.integer("seed", 0, INT64_MAX));
  choice.requests = reader.string("requests");
}

/// Compares an entry of the manifest's list with the file that it describes.
static void readListed(const JsonReader &reader, Bundle &bundle,
                       std::set<std::string> &listed) {
  reader.allowOnly({"name", "bytes", "sha256", "path"});
  std::string name = reader.string("name");
  std::string hash = reader.string("sha256");
  int64_t bytes = reader.integer(
      "bytes", 0, static_cast<int64_t>(limits::maxUnpackedBytes));
  if (auto path = reader.optionalString("path"))
    bundle.paths[name] = *path;
  if (reader.failed())
    return;
  auto file = bundle.files.find(name);
  if (file == bundle.files.end())
    return reader.failAt("name",
                         "\"" + shorten(name) + "\" is no entry of the bundle");
  if (!listed.insert(name).second)
    return reader.failAt("name", "\"" + shorten(name) + "\" is listed twice");
  if (static_cast<size_t>(bytes) != file->second.size())
    return reader.failAt("bytes",
                         "\"" + name + "\" has " +
                             formatInteger(int64_t(file->second.size())) +
                             " bytes, not " + formatInteger(bytes));
  if (hash != hashOf(file->second))
    reader.failAt("sha256", "\"" + name + "\" has the hash " +
                                hashOf(file->second) + ", not " +
                                shorten(hash));
}

std::optional<Error> autopar::bundle::readManifest(const std::string &text,
                                                   const std::string &file,
                                                   Bundle &bundle) {
  std::string name = file + ": " + manifestName;
  Result<JsonDocument> document = JsonDocument::parse(text, name);
  if (!document)
    return document.error();
  JsonReader reader = document->reader();
  checkSchema(reader, "autopar.bundle/1");
  reader.allowOnly(
      {"schema", "model", "versions", "flags", "estimate", "files"});
  bundle.model = reader.string("model");
  JsonReader versions = reader.object("versions");
  bundle.autoparVersion = versions.string("autopar");
  bundle.llvmVersion = versions.string("llvm");
  bundle.flags = reader.strings("flags");
  readChoice(reader.object("estimate"), bundle.choice);
  std::set<std::string> listed;
  for (const JsonReader &one : reader.array("files").elements())
    readListed(one, bundle, listed);
  if (reader.failed())
    return reader.takeError();
  for (const auto &[entry, unused] : bundle.files)
    if (!listed.count(entry))
      return Error{name, "does not list the entry \"" + entry + "\"", ""};
  for (const char *needed : {"module.mlir", "report.json", "report.txt"})
    if (!listed.count(needed))
      return Error{name, std::string("lists no ") + needed, ""};
  return std::nullopt;
}

Result<std::string> autopar::bundle::packBundle(const Bundle &bundle) {
  Entries entries = bundle.files;
  entries[manifestName] = writeManifest(bundle);
  return packZip(entries);
}

Result<Bundle> autopar::bundle::readBundle(const std::string &path) {
  Result<std::string> bytes = readFile(path);
  if (!bytes)
    return bytes.error();
  Result<Entries> entries = unpackZip(*bytes, path);
  if (!entries)
    return entries.error();
  auto manifest = entries->find(manifestName);
  if (manifest == entries->end())
    return Error{path, std::string("has no ") + manifestName,
                 "autopar estimate .. --bundle=FILE writes one"};
  std::string text = std::move(manifest->second);
  entries->erase(manifest);
  Bundle bundle;
  bundle.files = std::move(*entries);
  if (auto error = readManifest(text, path, bundle))
    return *error;
  return bundle;
}
