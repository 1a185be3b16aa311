//===- Library.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Library.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Suggestion.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;

std::string autopar::readName(const JsonReader &reader) {
  std::string name = reader.string("name");
  bool good =
      !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
      });
  if (!good && !reader.failed())
    reader.failAt("name", "expected lower-case letters, digits and \"-\", "
                          "found \"" +
                              shorten(name) + "\"");
  return name;
}

void autopar::checkSchema(const JsonReader &reader, std::string_view schema) {
  std::string found = reader.string("schema");
  if (!reader.failed() && found != schema)
    reader.failAt("schema", "expected \"" + std::string(schema) +
                                "\", found \"" + shorten(found) + "\"");
}

static bool endsWith(const std::string &text, std::string_view suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

bool autopar::isPath(const std::string &nameOrPath) {
  return nameOrPath.find('/') != std::string::npos ||
         endsWith(nameOrPath, ".json");
}

std::vector<std::string> autopar::namesIn(const std::string &directory) {
  std::vector<std::string> names = listFiles(directory, ".json");
  for (std::string &name : names)
    name.resize(name.size() - 5);
  return names;
}

bool autopar::isInLibrary(const std::string &name,
                          const std::string &directory) {
  return !name.empty() && !isPath(name) &&
         fileExists(directory + "/" + name + ".json");
}

Result<std::string> autopar::locateFile(const std::string &nameOrPath,
                                        const std::string &directory,
                                        std::string_view what) {
  if (isPath(nameOrPath))
    return nameOrPath;
  if (isInLibrary(nameOrPath, directory))
    return directory + "/" + nameOrPath + ".json";
  std::vector<std::string> names = namesIn(directory);
  if (names.empty())
    return Error{directory, "no " + std::string(what) + " files here",
                 "set AUTOPAR_DATA to the folder that holds hardware/ and "
                 "runtimes/"};
  return Error{"",
               "unknown " + std::string(what) + " \"" + shorten(nameOrPath) +
                   "\"" + didYouMean(suggestions(nameOrPath, names)),
               "available: " + join(names, ", ") +
                   "; or the path of a file of your own"};
}

void autopar::checkFileName(const JsonReader &reader, const std::string &name,
                            const std::string &file) {
  if (!reader.failed() && !endsWith(file, "/" + name + ".json"))
    reader.failAt("name", "expected the name of the file, found \"" +
                              shorten(name) + "\"");
}
