//===- Format.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/Format.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::model;
using namespace autopar::program;

using Parameters = std::map<std::string, int64_t>;

static std::string directory() { return dataDirectory("models") + "/formats"; }

std::vector<std::string> autopar::model::formatNames() {
  return namesIn(directory());
}

//===----------------------------------------------------------------------===//
// Reading shapes
//===----------------------------------------------------------------------===//

namespace {

/// Reads one dimension of a stored tensor, such as "i*bits/32".
class DimReader {
public:
  DimReader(const JsonReader &reader, const Parameters &parameters)
      : reader(reader), parameters(parameters) {}

  StoredDim read() {
    if (reader.isNumber()) {
      dim.num = reader.asInteger(1, limits::maxDimension);
      return dim;
    }
    std::string text = reader.asString();
    char op = '*';
    for (size_t begin = 0; begin <= text.size() && !reader.failed();) {
      size_t end = std::min(text.find_first_of("*/", begin), text.size());
      addFactor(op, text.substr(begin, end - begin), begin == 0);
      op = end < text.size() ? text[end] : '*';
      begin = end + 1;
    }
    if (dim.base == StoredDim::Base::one && dim.den != 1)
      reader.fail("expected a dimension to divide: o, i or all");
    return dim;
  }

private:
  void addFactor(char op, const std::string &word, bool first) {
    std::optional<StoredDim::Base> base = parseStoredBase(word);
    if (base && first) {
      dim.base = *base;
      return;
    }
    int64_t &target = op == '/' ? dim.den : dim.num;
    std::optional<int64_t> product =
        (Checked(target) * valueOf(word, op)).int64();
    if (!product || *product < 1 || *product > limits::maxDimension)
      reader.fail("has a number in its shape that is not from 1 to " +
                  std::to_string(limits::maxDimension));
    else
      target = *product;
  }

  int64_t valueOf(const std::string &word, char op) {
    auto it = parameters.find(word);
    if (it != parameters.end()) {
      // A group size of -1 means one group for the whole dimension.
      bool whole = it->second == -1 && op == '/';
      return whole ? limits::maxDimension : it->second;
    }
    bool digits = !word.empty() && word.size() < 14 &&
                  word.find_first_not_of("0123456789") == std::string::npos;
    if (digits)
      return std::stoll(word);
    reader.fail("expected a number, o, i, all or a parameter, found \"" +
                shorten(word) + "\"");
    return 1;
  }

  const JsonReader &reader;
  const Parameters &parameters;
  StoredDim dim;
};

} // namespace

//===----------------------------------------------------------------------===//
// Reading quantisation formats
//===----------------------------------------------------------------------===//

static ElementType readType(const JsonReader &reader, std::string_view key) {
  std::string text = reader.string(key);
  std::optional<ElementType> type = parseSafetensorsName(text);
  if (!type && !reader.failed())
    reader.failAt(key, "expected a type of safetensors (F8_E4M3, U8, I32, F16, "
                       "...), found \"" +
                           shorten(text) + "\"");
  return type.value_or(ElementType::bf16);
}

/// Returns the value of the parameter that the member `key` names; nothing if
/// there is no such member.
static std::optional<int64_t> readCondition(const JsonReader &reader,
                                            std::string_view key,
                                            const Parameters &parameters) {
  std::optional<std::string> name = reader.optionalString(key);
  if (!name)
    return std::nullopt;
  auto it = parameters.find(*name);
  if (it != parameters.end())
    return it->second;
  reader.failAt(key, "expected a parameter, found \"" + shorten(*name) + "\"");
  return std::nullopt;
}

/// Reads a tensor of a format; returns nothing if its condition on the
/// parameters does not hold.
static std::optional<FormatTensor> readTensor(const JsonReader &reader,
                                              const Parameters &parameters) {
  reader.allowOnly({"suffix", "type", "shape", "when", "unless"});
  FormatTensor tensor;
  tensor.suffix = reader.string("suffix");
  tensor.type = readType(reader, "type");
  tensor.plain = !reader.has("shape");
  if (!tensor.plain)
    for (const JsonReader &dim : reader.array("shape").elements())
      tensor.shape.push_back(DimReader(dim, parameters).read());
  if (tensor.suffix.empty() || tensor.suffix.find('*') != std::string::npos)
    reader.failAt("suffix", "expected a part of a name, without '*'");
  if (readCondition(reader, "when", parameters).value_or(1) == 0 ||
      readCondition(reader, "unless", parameters).value_or(0) != 0)
    return std::nullopt;
  return tensor;
}

static void readTensors(const JsonReader &reader, const Parameters &parameters,
                        Format &format) {
  for (const JsonReader &entry : reader.array("tensors").elements()) {
    std::optional<FormatTensor> tensor = readTensor(entry, parameters);
    if (!tensor)
      continue;
    for (const FormatTensor &other : format.tensors)
      if (other.suffix == tensor->suffix)
        entry.failAt("suffix", "\"" + shorten(other.suffix) +
                                   "\" is that of another tensor");
    format.tensors.push_back(std::move(*tensor));
  }
  if (format.tensors.empty())
    reader.failAt("tensors", "expected at least one tensor");
}

/// Returns the parameters of a format file, with the values that were given.
static Parameters readParameters(const JsonReader &reader,
                                 const Parameters &given) {
  Parameters parameters;
  std::vector<std::string> names;
  if (reader.has("parameters"))
    for (const auto &[name, value] : reader.object("parameters").members()) {
      parameters[name] = value.asInteger(-1, limits::maxDimension);
      names.push_back(name);
    }
  for (const auto &[name, value] : given) {
    auto it = parameters.find(name);
    if (it == parameters.end())
      reader.fail("the format has no parameter \"" + shorten(name) + "\"",
                  "it has: " + (names.empty() ? "none" : join(names, ", ")));
    else if (value < -1 || value > limits::maxDimension)
      reader.fail("parameter \"" + name + "\" is " + std::to_string(value) +
                  ", expected -1 to " + std::to_string(limits::maxDimension));
    else
      it->second = value;
  }
  return parameters;
}

static Format readFormat(const JsonReader &reader, const Parameters &given) {
  Format format;
  reader.allowOnly({"schema", "name", "title", "source", "parameters",
                    "compute", "row", "fallback", "tensors"});
  checkSchema(reader, "autopar.format/1");
  format.name = readName(reader);
  format.title = reader.string("title");
  reader.string("source");
  Parameters parameters = readParameters(reader, given);
  if (reader.has("compute"))
    format.compute = readType(reader, "compute");
  readTensors(reader, parameters, format);
  format.row = reader.optionalInteger("row", 1, limits::maxDimension)
                   .value_or(format.row);
  return format;
}

/// Reads the format that is used for rows that are not whole blocks. Each
/// fallback must have shorter blocks, so that the chain of fallbacks ends.
static void readFallback(const JsonReader &reader, Format &format) {
  std::optional<std::string> name = reader.optionalString("fallback");
  if (!name)
    return;
  Result<Format> fallback = loadFormat(*name, {});
  if (!fallback)
    reader.failAt("fallback", fallback.error().message);
  else if (fallback->row >= format.row)
    reader.failAt("fallback", "expected a format with shorter blocks than " +
                                  std::to_string(format.row) + ", found \"" +
                                  shorten(*name) + "\"");
  else
    format.fallback = std::make_shared<const Format>(std::move(*fallback));
}

const Format &Format::forRows(int64_t length) const {
  return fallback && length % row != 0 ? fallback->forRows(length) : *this;
}

Result<Format> autopar::model::loadFormat(const std::string &nameOrPath,
                                          const Parameters &parameters) {
  Result<std::string> file = locateFile(nameOrPath, directory(), "format");
  if (!file)
    return file.error();
  Result<JsonDocument> document = JsonDocument::readFile(*file);
  if (!document)
    return document.error();
  JsonReader reader = document->reader();
  Format format = readFormat(reader, parameters);
  readFallback(reader, format);
  if (!isPath(nameOrPath))
    checkFileName(reader, format.name, *file);
  if (reader.failed())
    return reader.takeError();
  return format;
}
