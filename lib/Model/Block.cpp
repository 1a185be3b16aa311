//===- Block.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/Block.h"

#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::model;

Block::Block(Scope &scope, std::string name, std::optional<Error> &error)
    : names(scope), blockName(std::move(name)), error(error) {
  parameters = names.family().find("blocks", blockName);
  if (!parameters) {
    fail("there is no such block");
    return;
  }
  auto kind = parameters->find("is");
  if (kind != parameters->end() && kind->is_string())
    kindName = kind->get<std::string>();
  else
    fail("missing field \"is\"");
}

std::string Block::pointerTo(const char *key) const {
  return "/blocks/" + blockName + (key ? "/" + std::string(key) : "");
}

void Block::fail(const std::string &message, const char *key) {
  if (!error)
    error = Error{names.family().file + ": " + pointerTo(key), message, ""};
}

void Block::failField(const char *key, const std::string &message) {
  const JsonValue *expression = find(key);
  if (expression && expression->is_string() && !error)
    error = names.errorOf(expression->get<std::string>(), message);
  fail(message, key);
}

const JsonValue *Block::find(const char *key) {
  asked.insert(key);
  if (error || !parameters)
    return nullptr;
  auto it = parameters->find(key);
  return it == parameters->end() || it->is_null() ? nullptr : &*it;
}

bool Block::has(const char *key) { return find(key); }

JsonValue Block::evaluate(const char *key) {
  const JsonValue *expression = find(key);
  if (!expression) {
    if (!error)
      fail("missing parameter \"" + std::string(key) + "\" of block kind \"" +
           kindName + "\"");
    return JsonValue();
  }
  Result<JsonValue> value = names.evaluate(*expression, pointerTo(key));
  if (value)
    return *value;
  if (!error)
    error = value.error();
  return JsonValue();
}

bool Block::isEnabled() { return !has("when") || flag("when"); }

int64_t Block::integer(const char *key) {
  JsonValue value = evaluate(key);
  if (value.is_number_integer() && value.get<int64_t>() > 0)
    return value.get<int64_t>();
  fail("expected a positive integer, found " + value.dump(), key);
  return 1;
}

int64_t Block::integer(const char *key, int64_t absent) {
  if (!has(key))
    return absent;
  JsonValue value = evaluate(key);
  if (value.is_null())
    return absent;
  if (value.is_number_integer() && value.get<int64_t>() >= 0)
    return value.get<int64_t>();
  fail("expected an integer that is not negative, found " + value.dump(), key);
  return absent;
}

std::vector<int64_t> Block::integers(const char *key) {
  const JsonValue *elements = find(key);
  if (!elements || !elements->is_string())
    return readIntegers(elements, key);
  JsonValue evaluated = evaluate(key);
  return readIntegers(&evaluated, key);
}

std::vector<std::pair<std::string, std::vector<int64_t>>>
Block::tensors(const char *key) {
  std::vector<std::pair<std::string, std::vector<int64_t>>> all;
  const JsonValue *list = find(key);
  if (!list || !list->is_object()) {
    fail("expected names with shapes", key);
    return all;
  }
  for (auto it = list->begin(); it != list->end() && !error; ++it) {
    Result<std::string> name = names.interpolate(it.key(), pointerTo(key));
    // The shape [] means a single number.
    bool isScalar = it->is_array() && it->empty();
    if (name)
      all.emplace_back(*name, isScalar ? std::vector<int64_t>()
                                       : readIntegers(&*it, key));
    else
      error = name.error();
  }
  return all;
}

std::vector<int64_t> Block::readIntegers(const JsonValue *elements,
                                         const char *key) {
  std::vector<int64_t> list;
  if (!elements || !elements->is_array() || elements->empty())
    fail("expected a list of integers", key);
  else
    for (const JsonValue &element : *elements) {
      Result<JsonValue> value = names.evaluate(element, pointerTo(key));
      if (!value && !error)
        error = value.error();
      bool valid =
          value && value->is_number_integer() && value->get<int64_t>() > 0;
      if (!valid)
        fail("expected positive integers", key);
      list.push_back(valid ? value->get<int64_t>() : 1);
    }
  return list;
}

double Block::number(const char *key, double absent) {
  if (!has(key))
    return absent;
  JsonValue value = evaluate(key);
  if (value.is_null())
    return absent;
  if (value.is_number())
    return value.get<double>();
  fail("expected a number, found " + value.dump(), key);
  return absent;
}

double Block::positive(const char *key, double absent) {
  double value = number(key, absent);
  if (value > 0)
    return value;
  failField(key, "expected a positive number, found " + formatNumber(value));
  return 1;
}

double Block::notNegative(const char *key, double absent) {
  double value = number(key, absent);
  if (value >= 0)
    return value;
  failField(key, "expected a number that is not negative, found " +
                     formatNumber(value));
  return 0;
}

bool Block::flag(const char *key, bool absent) {
  return has(key) ? isTrue(evaluate(key)) : absent;
}

std::string Block::text(const char *key) {
  if (!has(key) && !error)
    fail("missing parameter \"" + std::string(key) + "\" of block kind \"" +
         kindName + "\"");
  return text(key, "");
}

std::string Block::text(const char *key, const std::string &absent) {
  const JsonValue *value = find(key);
  if (!value)
    return absent;
  if (!value->is_string()) {
    fail("expected a text, found " + value->dump(), key);
    return absent;
  }
  Result<std::string> result =
      names.interpolate(value->get<std::string>(), pointerTo(key));
  if (result)
    return *result;
  if (!error)
    error = result.error();
  return absent;
}

std::string Block::choice(const char *key, const std::string &absent) {
  if (!has(key))
    return absent;
  JsonValue value = evaluate(key);
  if (value.is_null())
    return "";
  if (value.is_string())
    return value.get<std::string>();
  fail("expected a text, found " + value.dump(), key);
  return absent;
}

void Block::finish() {
  if (error || !parameters)
    return;
  for (auto it = parameters->begin(); it != parameters->end(); ++it)
    if (it.key() != "is" && it.key() != "when" && it.key() != "note" &&
        !it->is_null() && !asked.count(it.key()))
      return fail("block kind \"" + kindName + "\" has no parameter \"" +
                      shorten(it.key()) + "\"; it asked for " +
                      join(asked, ", "),
                  it.key().c_str());
}
