//===- SizeRelations.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SizeRelations.h"

#include <algorithm>
#include <numeric>

using namespace autopar;
using namespace autopar::model;

namespace {

/// Gives small sizes to the names that have them; other fields keep the values
/// of the config.
class SmallNames : public Names {
public:
  SmallNames(Scope &scope, const SmallSizeMap &small)
      : scope(scope), small(small) {}

  Result<const JsonValue *> lookUp(const std::string &name) override {
    Result<JsonValue> value = find(name);
    if (!value)
      return value.error();
    return &(values[name] = std::move(*value));
  }
  bool has(const std::string &name) override { return scope.has(name); }

  /// Returns the integer that an expression yields; nothing if it yields none.
  std::optional<int64_t> integer(const JsonValue &expression) {
    Result<JsonValue> value = evaluate(expression);
    if (!value || !value->is_number_integer())
      return std::nullopt;
    return value->get<int64_t>();
  }

private:
  Result<JsonValue> evaluate(const JsonValue &expression) {
    if (!expression.is_string())
      return expression;
    Result<Expression> parsed =
        Expression::parse(expression.get_ref<const std::string &>());
    return parsed ? parsed->evaluate(*this) : parsed.error();
  }

  Result<JsonValue> find(const std::string &name) {
    if (size_t dot = name.find('.'); dot != std::string::npos) {
      Result<Scope *> part = scope.part(name.substr(0, dot));
      return part ? SmallNames(**part, small).find(name.substr(dot + 1))
                  : Result<JsonValue>(part.error());
    }
    Result<const JsonValue *> before = scope.lookUp(name);
    if (!before)
      return before.error();
    if (auto found = small.find({&scope, name}); found != small.end()) {
      JsonValue value = **before;
      if (!value.is_array())
        return JsonValue(found->second);
      std::fill(value.begin(), value.end(), found->second);
      return value;
    }
    const JsonValue *field = scope.family().find("fields", name);
    bool follows =
        field && field->contains("default") && scope.placesOf(name).empty();
    return follows ? evaluate((*field)["default"]) : **before;
  }

  Scope &scope;
  const SmallSizeMap &small;
  std::map<std::string, JsonValue> values;
};

class Settler {
public:
  Settler(std::vector<SizeField> &fields, SmallSizeMap &small)
      : fields(fields), small(small) {}

  /// Checks all relations and sets sizes that violate one. Returns true if none
  /// was violated.
  bool settle() {
    bool isSettled = true;
    // The loop runs over a copy, because `fields` may grow.
    for (const SizeField &field : std::vector<SizeField>(fields)) {
      const JsonValue *description =
          field.scope->family().find("fields", field.name);
      if (!description || field.scope->placesOf(field.name).empty())
        continue;
      if (description->contains("equals"))
        isSettled &= settleEqual(field, (*description)["equals"]);
      if (description->contains("multiple_of"))
        isSettled &= settleMultiple(field, (*description)["multiple_of"]);
    }
    return isSettled;
  }

private:
  /// The largest value that counts as a size; products of larger ones could
  /// overflow.
  static constexpr int64_t largest = int64_t(1) << 28;

  int64_t sizeOf(const SizeField &field) const {
    auto found = small.find({field.scope, field.name});
    return found == small.end() ? field.number() : found->second;
  }
  void set(const SizeField &field, int64_t size) {
    small[{field.scope, field.name}] = size;
  }
  std::optional<int64_t> boundOf(const SizeField &field,
                                 const JsonValue &expression) const {
    return SmallNames(*field.scope, small).integer(expression);
  }

  bool settleEqual(const SizeField &field, const JsonValue &expression) {
    std::optional<int64_t> bound = boundOf(field, expression);
    if (!bound || *bound < 0 || *bound > largest || *bound == sizeOf(field))
      return true;
    // A size of 0 is never set: it would mean that the inputs of the expression
    // do not fit together.
    if (!shrinkBehind(field, expression, *bound) && *bound > 0)
      set(field, *bound);
    return false;
  }

  bool settleMultiple(const SizeField &field, const JsonValue &expression) {
    std::optional<int64_t> bound = boundOf(field, expression);
    if (!bound || *bound <= 0 || *bound > largest ||
        sizeOf(field) % *bound == 0)
      return true;
    set(field, (sizeOf(field) / *bound + 1) * *bound);
    return false;
  }

  /// Returns sizes to try for a `number`, so that a dependent value that is
  /// `bound` now becomes `wanted`; if that gives no hint, all small sizes.
  static std::vector<int64_t> triedSizes(int64_t number, int64_t bound,
                                         int64_t wanted) {
    if (wanted <= 0 || wanted > largest)
      return {};
    if (bound > 0)
      return {number * bound / wanted, number * wanted / bound};
    constexpr int64_t small = 1024;
    std::vector<int64_t> all(std::min(number, small));
    std::iota(all.rbegin(), all.rend(), 1);
    return all;
  }

  /// Reduces a size in `expression`, whose value is `bound`, so that the value
  /// becomes that of `field`. Returns whether it succeeded.
  bool shrinkBehind(const SizeField &field, const JsonValue &expression,
                    int64_t bound) {
    int64_t wanted = sizeOf(field);
    std::set<std::string> seen;
    std::vector<SizeField> behind;
    addBehind(*field.scope, expression, seen, behind);
    for (const SizeField &other : behind) {
      int64_t number = other.number();
      for (int64_t fewer : triedSizes(number, bound, wanted)) {
        if (fewer < 1 || fewer >= number)
          continue;
        auto at = small.emplace(SmallSizeMap::key_type(other.scope, other.name),
                                fewer);
        if (boundOf(field, expression) == wanted) {
          fields.push_back(other);
          return true;
        }
        small.erase(at.first);
      }
    }
    return false;
  }

  /// Adds to `behind` the integers of the config on which `expression` depends
  /// and that still have their original values.
  void addBehind(Scope &scope, const JsonValue &expression,
                 std::set<std::string> &seen,
                 std::vector<SizeField> &behind) const {
    for (const std::string &name : namesIn(scope, expression)) {
      const JsonValue *field = scope.family().find("fields", name);
      Result<const JsonValue *> value = scope.lookUp(name);
      if (!field || !value || !seen.insert(name).second)
        continue;
      SizeField size{&scope, name, SizeRole::width, "", **value};
      if (scope.placesOf(name).empty() && field->contains("default"))
        addBehind(scope, (*field)["default"], seen, behind);
      else if (!small.count({&scope, name}) && size.number() <= largest)
        behind.push_back(std::move(size));
    }
  }

  std::vector<SizeField> &fields;
  SmallSizeMap &small;
};

} // namespace

void autopar::model::settleRelations(std::vector<SizeField> &fields,
                                     SmallSizeMap &small) {
  // Fields may depend on each other, so that several rounds are needed.
  constexpr int rounds = 4;
  Settler settler(fields, small);
  for (int i = 0; i < rounds && !settler.settle(); ++i)
    ;
}
