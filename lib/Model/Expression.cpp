//===- Expression.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/Expression.h"

#include "ExpressionParser.h"
#include "autopar/Support/Checked.h"
#include "autopar/Support/Text.h"

#include <cmath>
#include <map>

using namespace autopar;
using namespace autopar::model;
using Node = Expression::Node;

Names::~Names() = default;

bool autopar::model::isTrue(const JsonValue &value) {
  if (value.is_boolean())
    return value.get<bool>();
  if (value.is_number())
    return value.get<double>() != 0;
  if (value.is_string())
    return !value.get_ref<const std::string &>().empty();
  return !value.is_null() && !value.empty();
}

Result<Expression> Expression::parse(std::string_view text) {
  Expression expression;
  ExpressionParser parser(text, expression.nodes);
  std::optional<uint32_t> root = parser.parse();
  if (!root)
    return parser.error();
  expression.root = *root;
  return expression;
}

static std::string show(const JsonValue &value) {
  return shorten(
      value.dump(-1, ' ', false, JsonValue::error_handler_t::replace));
}

static Error refuse(std::string message) {
  return Error{"", std::move(message), ""};
}

//===----------------------------------------------------------------------===//
// Arithmetic of values
//===----------------------------------------------------------------------===//

static Result<JsonValue> fromChecked(Checked value) {
  if (std::optional<int64_t> fits =
          value.valid() ? value.int64() : std::nullopt)
    return JsonValue(*fits);
  return refuse("a product or sum does not fit in 63 bits");
}

/// Returns the remainder of a division that rounds down; `b` must be positive.
static int64_t floorMod(int64_t a, int64_t b) {
  int64_t rest = a % b;
  return rest < 0 ? rest + b : rest;
}

static Result<JsonValue> divide(const std::string &op, int64_t a, int64_t b) {
  if (b <= 0)
    return refuse("division of " + std::to_string(a) + " by " +
                  std::to_string(b));
  if (op == "%")
    return JsonValue(floorMod(a, b));
  if (op == "/" && a % b)
    return refuse(std::to_string(a) + " is not a multiple of " +
                  std::to_string(b));
  return fromChecked(floorDiv(Checked(a), Checked(b)));
}

static Result<JsonValue> computeIntegers(const std::string &op, int64_t a,
                                         int64_t b) {
  if (op == "+")
    return fromChecked(Checked(a) + Checked(b));
  if (op == "-")
    return fromChecked(Checked(a) - Checked(b));
  if (op == "*")
    return fromChecked(Checked(a) * Checked(b));
  return divide(op, a, b);
}

static Result<JsonValue> computeNumbers(const std::string &op, double a,
                                        double b) {
  double result = op == "+"   ? a + b
                  : op == "-" ? a - b
                  : op == "*" ? a * b
                  : op == "/" ? a / b
                              : std::floor(a / b);
  if (op == "%" || !std::isfinite(result))
    return refuse(formatNumber(a) + " " + op + " " + formatNumber(b) +
                  " has no value");
  return JsonValue(result);
}

static Result<JsonValue> compute(const std::string &op, const JsonValue &a,
                                 const JsonValue &b) {
  if (a.is_number_integer() && b.is_number_integer())
    return computeIntegers(op, a.get<int64_t>(), b.get<int64_t>());
  if (a.is_number() && b.is_number())
    return computeNumbers(op, a.get<double>(), b.get<double>());
  if (op == "+" && a.is_string() && b.is_string())
    return JsonValue(a.get<std::string>() + b.get<std::string>());
  return refuse("cannot compute " + show(a) + " " + op + " " + show(b));
}

static bool contains(const JsonValue &container, const JsonValue &value) {
  if (container.is_string() && value.is_string())
    return container.get_ref<const std::string &>().find(
               value.get_ref<const std::string &>()) != std::string::npos;
  if (container.is_array())
    for (const JsonValue &element : container)
      if (element == value)
        return true;
  return false;
}

static Result<JsonValue> compare(const std::string &op, const JsonValue &a,
                                 const JsonValue &b) {
  if (op == "==" || op == "!=")
    return JsonValue((a == b) == (op == "=="));
  if (op == "in" || op == "not in") {
    if (!b.is_array() && !b.is_string() && !b.is_null())
      return refuse(show(b) + " is neither a list nor a text");
    return JsonValue(contains(b, a) == (op == "in"));
  }
  if (!a.is_number() || !b.is_number())
    return refuse("cannot compare " + show(a) + " " + op + " " + show(b));
  if (op == "<")
    return JsonValue(a < b);
  if (op == ">")
    return JsonValue(b < a);
  return JsonValue(op == "<=" ? !(b < a) : !(a < b));
}

/// Returns the member of an object whose name is `index`, or the same number
/// with any leading zeros; null if there is none.
static Result<JsonValue> member(const JsonValue &object,
                                const JsonValue &index) {
  std::string name =
      index.is_string() ? index.get<std::string>() : index.dump();
  for (auto it = object.begin(); it != object.end(); ++it) {
    size_t digits = it.key().find_first_not_of('0');
    if (it.key() == name ||
        (index.is_number_integer() && !it.key().empty() &&
         it.key().substr(std::min(digits, it.key().size() - 1)) == name))
      return *it;
  }
  return JsonValue();
}

static Result<JsonValue> element(const JsonValue &container,
                                 const JsonValue &index) {
  if (container.is_object() && (index.is_string() || index.is_number_integer()))
    return member(container, index);
  if (!index.is_number_integer())
    return refuse("index " + show(index) + " is not an integer");
  int64_t i = index.get<int64_t>();
  int64_t size = container.is_array() ? container.size()
                 : container.is_string()
                     ? container.get_ref<const std::string &>().size()
                     : -1;
  if (size < 0)
    return refuse(show(container) + " is neither a list nor a text");
  if (i < 0 || i >= size)
    return refuse("there is no element " + std::to_string(i) + " in " +
                  std::to_string(size) + ": " + show(container));
  if (container.is_array())
    return container[i];
  char letter = container.get_ref<const std::string &>()[i];
  if (letter & 0x80) // A part of a letter, which is no text.
    return refuse("element " + std::to_string(i) + " of " + show(container) +
                  " is not ASCII");
  return JsonValue(std::string(1, letter));
}

//===----------------------------------------------------------------------===//
// Functions of expressions
//===----------------------------------------------------------------------===//

namespace {

/// A value that was computed, or a reference to the value of a name. References
/// avoid copies: lists are long, and every layer asks for one element.
class Operand {
public:
  explicit Operand(JsonValue value) : own(std::move(value)) {}
  explicit Operand(const JsonValue *known) : known(known) {}
  const JsonValue &operator*() const { return known ? *known : own; }
  const JsonValue *operator->() const { return &**this; }

private:
  JsonValue own;
  const JsonValue *known = nullptr;
};

} // namespace

using Arguments = std::vector<Operand>;

static bool areIntegers(const Arguments &arguments, size_t count) {
  if (arguments.size() != count)
    return false;
  for (const Operand &value : arguments)
    if (!value->is_number_integer())
      return false;
  return true;
}

static Result<JsonValue> least(const Arguments &arguments) {
  if (arguments.size() != 2 || !arguments[0]->is_number() ||
      !arguments[1]->is_number())
    return refuse("min expects two numbers");
  return *arguments[1] < *arguments[0] ? *arguments[1] : *arguments[0];
}

static Result<JsonValue> greatest(const Arguments &arguments) {
  if (arguments.size() != 2 || !arguments[0]->is_number() ||
      !arguments[1]->is_number())
    return refuse("max expects two numbers");
  return *arguments[0] < *arguments[1] ? *arguments[1] : *arguments[0];
}

static Result<JsonValue> ceilDivide(const Arguments &arguments) {
  if (!areIntegers(arguments, 2) || arguments[1]->get<int64_t>() <= 0)
    return refuse("ceil_div expects two integers, the second positive");
  return fromChecked(ceilDiv(Checked(arguments[0]->get<int64_t>()),
                             Checked(arguments[1]->get<int64_t>())));
}

static Result<JsonValue> roundUpTo(const Arguments &arguments) {
  if (!areIntegers(arguments, 2) || arguments[1]->get<int64_t>() <= 0)
    return refuse("round_up expects two integers, the second positive");
  return fromChecked(roundUp(Checked(arguments[0]->get<int64_t>()),
                             Checked(arguments[1]->get<int64_t>())));
}

static Result<JsonValue> truncate(const Arguments &arguments) {
  if (arguments.size() != 1 || !arguments[0]->is_number() ||
      std::fabs(arguments[0]->get<double>()) > 9e15)
    return refuse("int expects a number");
  if (arguments[0]->is_number_integer())
    return *arguments[0];
  return JsonValue(static_cast<int64_t>(arguments[0]->get<double>()));
}

static Result<JsonValue> length(const Arguments &arguments) {
  if (arguments.size() == 1 && arguments[0]->is_string())
    return JsonValue(static_cast<int64_t>(
        arguments[0]->get_ref<const std::string &>().size()));
  if (arguments.size() == 1 && arguments[0]->is_structured())
    return JsonValue(static_cast<int64_t>(arguments[0]->size()));
  return refuse("len expects a list or a text");
}

static Result<JsonValue> textOf(const Arguments &arguments) {
  if (arguments.size() != 1 || !arguments[0]->is_number_integer())
    return refuse("text expects an integer");
  return JsonValue(arguments[0]->dump());
}

static Result<JsonValue> startsWith(const Arguments &arguments) {
  if (arguments.size() != 2 || !arguments[0]->is_string() ||
      !arguments[1]->is_string())
    return refuse("starts_with expects two texts");
  return JsonValue(arguments[0]->get<std::string>().rfind(
                       arguments[1]->get<std::string>(), 0) == 0);
}

static Result<JsonValue> squareRoot(const Arguments &arguments) {
  if (arguments.size() != 1 || !arguments[0]->is_number() ||
      arguments[0]->get<double>() < 0)
    return refuse("sqrt expects a number that is not negative");
  return JsonValue(std::sqrt(arguments[0]->get<double>()));
}

static Result<JsonValue> isList(const Arguments &arguments) {
  return JsonValue(arguments.size() == 1 && arguments[0]->is_array());
}

/// The place of the last of the first elements of a list that equals a value;
/// None where none does.
static Result<JsonValue> lastOf(const Arguments &arguments) {
  if (arguments.size() != 3 || !arguments[0]->is_array() ||
      !arguments[2]->is_number_integer())
    return refuse("last_of expects a list, a value and a number of elements");
  auto size = static_cast<int64_t>(arguments[0]->size());
  for (int64_t i = std::min(arguments[2]->get<int64_t>(), size) - 1; i >= 0;
       --i)
    if ((*arguments[0])[static_cast<size_t>(i)] == *arguments[1])
      return JsonValue(i);
  return JsonValue();
}

using Function = Result<JsonValue> (*)(const Arguments &);

static const std::map<std::string_view, Function> &functions() {
  static const std::map<std::string_view, Function> all = {
      {"min", least},
      {"max", greatest},
      {"ceil_div", ceilDivide},
      {"round_up", roundUpTo},
      {"int", truncate},
      {"len", length},
      {"starts_with", startsWith},
      {"is_list", isList},
      {"last_of", lastOf},
      {"text", textOf},
      {"sqrt", squareRoot}};
  return all;
}

//===----------------------------------------------------------------------===//
// Evaluation of expressions
//===----------------------------------------------------------------------===//

namespace {

class Evaluator {
public:
  Evaluator(const std::vector<Node> &nodes, Names &names)
      : nodes(nodes), names(names) {}

  Result<Operand> evaluate(uint32_t index) {
    const Node &node = nodes[index];
    switch (node.kind) {
    case Node::Kind::literal:
      return Operand(&node.literal);
    case Node::Kind::name:
      return wrap(names.lookUp(node.text));
    case Node::Kind::list:
      return wrap(evaluateList(node));
    case Node::Kind::unary:
      return wrap(evaluateUnary(node));
    case Node::Kind::binary:
      return evaluateBinary(node);
    case Node::Kind::conditional:
      return evaluateConditional(node);
    case Node::Kind::index:
      return wrap(evaluateIndex(node));
    case Node::Kind::call:
      return wrap(evaluateCall(node));
    }
    return Operand(JsonValue());
  }

private:
  template <typename T>
  static Result<Operand> wrap(Result<T> value) {
    if (!value)
      return value.error();
    return Operand(std::move(*value));
  }

  Result<JsonValue> evaluateIndex(const Node &node) {
    Result<Operand> container = evaluate(node.operands[0]);
    if (!container)
      return container.error();
    Result<Operand> index = evaluate(node.operands[1]);
    return index ? element(**container, **index) : index.error();
  }

  Result<JsonValue> evaluateList(const Node &node) {
    JsonValue list = JsonValue::array();
    for (uint32_t operand : node.operands) {
      Result<Operand> value = evaluate(operand);
      if (!value)
        return value.error();
      list.push_back(**value);
    }
    return list;
  }

  Result<JsonValue> evaluateUnary(const Node &node) {
    Result<Operand> value = evaluate(node.operands[0]);
    if (!value)
      return value.error();
    if (node.text == "not")
      return JsonValue(!isTrue(**value));
    return compute("-", JsonValue(int64_t(0)), **value);
  }

  Result<Operand> evaluateBinary(const Node &node) {
    Result<Operand> left = evaluate(node.operands[0]);
    if (!left)
      return left;
    if (node.text == "or" || node.text == "and")
      return isTrue(**left) == (node.text == "or") ? left
                                                   : evaluate(node.operands[1]);
    Result<Operand> right = evaluate(node.operands[1]);
    if (!right)
      return right;
    bool arithmetic =
        node.text.size() <= 2 &&
        std::string_view("+-*//%").find(node.text) != std::string_view::npos;
    return wrap(arithmetic ? compute(node.text, **left, **right)
                           : compare(node.text, **left, **right));
  }

  Result<Operand> evaluateConditional(const Node &node) {
    Result<Operand> condition = evaluate(node.operands[0]);
    if (!condition)
      return condition;
    return evaluate(node.operands[isTrue(**condition) ? 1 : 2]);
  }

  Result<JsonValue> evaluateCall(const Node &node) {
    if (node.text == "has" && node.operands.size() == 1 &&
        nodes[node.operands[0]].kind == Node::Kind::name)
      return JsonValue(names.has(nodes[node.operands[0]].text));
    auto function = functions().find(node.text);
    if (function == functions().end())
      return refuse("there is no function \"" + node.text + "\"");
    Arguments arguments;
    for (uint32_t operand : node.operands) {
      Result<Operand> value = evaluate(operand);
      if (!value)
        return value.error();
      arguments.push_back(std::move(*value));
    }
    return function->second(arguments);
  }

  const std::vector<Node> &nodes;
  Names &names;
};

} // namespace

std::vector<std::string> Expression::names() const {
  std::vector<std::string> names;
  for (const Node &node : nodes)
    if (node.kind == Node::Kind::name)
      names.push_back(node.text);
  return names;
}

Result<JsonValue> Expression::evaluate(Names &names) const {
  Result<Operand> value = Evaluator(nodes, names).evaluate(root);
  if (!value)
    return value.error();
  return **value;
}
