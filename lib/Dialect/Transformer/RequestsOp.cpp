//===- RequestsOp.cpp - What a service is asked ---------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Interfaces/BodyAttr.h"
#include "autopar/Interfaces/BytecodeVersion.h"
#include "autopar/Interfaces/ModuleOps.h"
#include "autopar/Interfaces/NumberSyntax.h"
#include "autopar/Program/RequestKnobs.h"
#include "autopar/Support/Text.h"

#include "mlir/IR/DialectImplementation.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// The attribute LengthsAttr
//===----------------------------------------------------------------------===//

/// Returns the text from which `TokenLengths::parse` makes the distribution,
/// and which reports wrong numbers.
static std::string textOf(LengthsKind kind, ArrayRef<int64_t> tokens,
                          ArrayRef<double> numbers) {
  auto at = [](auto values, size_t i) {
    return i < values.size() ? formatNumber(static_cast<double>(values[i]))
                             : std::string("nothing");
  };
  switch (kind) {
  case LengthsKind::fixed:
    return at(tokens, 0);
  case LengthsKind::uniform:
    return "uniform:" + at(tokens, 0) + ".." + at(tokens, 1);
  case LengthsKind::lognormal:
    return "lognormal:" + at(tokens, 0) + "," + at(numbers, 0);
  case LengthsKind::histogram:
    break;
  }
  std::string text = "histogram:";
  for (size_t i = 0; i < tokens.size(); ++i)
    text += (i == 0 ? "" : ",") + at(tokens, i) + "x" + at(numbers, i);
  return text;
}

LengthsAttr LengthsAttr::get(MLIRContext *context,
                             const TokenLengths &lengths) {
  return get(context, static_cast<LengthsKind>(lengths.getKind()),
             lengths.tokens(),
             DenseF64ArrayAttr::get(context, lengths.numbers()));
}

TokenLengths LengthsAttr::getLengths() const {
  return *TokenLengths::parse(textOf(getKind(), getTokens(), getNumbers()));
}

LogicalResult LengthsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  LengthsKind kind, ArrayRef<int64_t> tokens,
                                  DenseF64ArrayAttr numbers) {
  bool isHistogram = kind == LengthsKind::histogram;
  size_t numTokens = kind == LengthsKind::uniform ? 2 : 1;
  size_t numNumbers = kind == LengthsKind::lognormal ? 1 : 0;
  if (tokens.size() != (isHistogram ? tokens.size() : numTokens) ||
      size_t(numbers.size()) != (isHistogram ? tokens.size() : numNumbers))
    return emitError() << "has " << tokens.size() << " counts of tokens and "
                       << numbers.size() << " other numbers, not those of "
                       << stringifyLengthsKind(kind);
  Result<TokenLengths> read =
      TokenLengths::parse(textOf(kind, tokens, numbers));
  if (read)
    return success();
  InFlightDiagnostic diag = emitError() << read.error().message;
  diag.attachNote() << read.error().note;
  return diag;
}

Attribute LengthsAttr::parseBody(AsmParser &parser) {
  MLIRContext *context = parser.getContext();
  SmallVector<int64_t> tokens;
  SmallVector<double> numbers;
  auto finish = [&](LengthsKind kind) {
    return parser.getChecked<LengthsAttr>(
        context, kind, ArrayRef<int64_t>(tokens),
        DenseF64ArrayAttr::get(context, numbers));
  };
  OptionalParseResult fixed =
      parser.parseOptionalInteger(tokens.emplace_back());
  if (fixed.has_value())
    return succeeded(*fixed) ? finish(LengthsKind::fixed) : LengthsAttr();
  tokens.clear();
  FailureOr<LengthsKind> kind = FieldParser<LengthsKind>::parse(parser);
  if (failed(kind))
    return {};
  auto parseOne = [&]() -> ParseResult {
    if (*kind == LengthsKind::lognormal && !tokens.empty())
      return parser.parseFloat(numbers.emplace_back());
    if (parser.parseInteger(tokens.emplace_back()))
      return failure();
    return failure(
        *kind == LengthsKind::histogram &&
        (parser.parseColon() || parser.parseFloat(numbers.emplace_back())));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne))
    return {};
  return finish(*kind);
}

void LengthsAttr::printBody(AsmPrinter &printer) const {
  if (getKind() == LengthsKind::fixed) {
    printer << getTokens().front();
    return;
  }
  printer << stringifyLengthsKind(getKind()) << "(";
  ArrayRef<double> numbers = getNumbers();
  for (auto [i, tokens] : llvm::enumerate(getTokens())) {
    printer << (i == 0 ? "" : ", ") << tokens;
    if (getKind() == LengthsKind::histogram)
      printer << " : " << numberText(numbers[i]);
  }
  if (getKind() == LengthsKind::lognormal)
    printer << ", " << numberText(numbers.front());
  printer << ")";
}

Attribute LengthsAttr::parse(AsmParser &parser, Type) {
  return parseInAngles<LengthsAttr>(parser);
}

void LengthsAttr::print(AsmPrinter &printer) const {
  printInAngles(printer, *this);
}

//===----------------------------------------------------------------------===//
// The attribute LimitsAttr
//===----------------------------------------------------------------------===//

LimitsAttr LimitsAttr::get(MLIRContext *context, const ServiceLimits &limits) {
  auto attrOf = [&](std::optional<double> us) {
    return us ? FloatAttr::get(Float64Type::get(context), *us) : FloatAttr();
  };
  return get(context, attrOf(limits.ttftUs), attrOf(limits.tpotUs));
}

ServiceLimits LimitsAttr::getLimits() const {
  auto valueOf = [](FloatAttr us) {
    return us ? std::optional<double>(us.getValueAsDouble()) : std::nullopt;
  };
  return {valueOf(getTtftUs()), valueOf(getTpotUs())};
}

LogicalResult LimitsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 FloatAttr ttftUs, FloatAttr tpotUs) {
  if (!ttftUs && !tpotUs)
    return emitError() << "expected ttft_us, tpot_us or both";
  for (FloatAttr us : {ttftUs, tpotUs})
    if (us && !(us.getType().isF64() && us.getValueAsDouble() > 0))
      return emitError() << "expected microseconds above 0";
  return success();
}

Attribute LimitsAttr::parseBody(AsmParser &parser) {
  FloatAttr ttft, tpot;
  auto parseOne = [&]() -> ParseResult {
    StringRef name;
    double us;
    SMLoc start = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual() ||
        parser.parseFloat(us))
      return failure();
    FloatAttr *limit = name == "ttft_us"   ? &ttft
                       : name == "tpot_us" ? &tpot
                                           : nullptr;
    if (!limit || *limit)
      return parser.emitError(start, "expected ttft_us or tpot_us, once each");
    *limit = parser.getBuilder().getF64FloatAttr(us);
    return success();
  };
  if (parser.parseCommaSeparatedList(parseOne))
    return {};
  return parser.getChecked<LimitsAttr>(parser.getContext(), ttft, tpot);
}

void LimitsAttr::printBody(AsmPrinter &printer) const {
  if (FloatAttr ttft = getTtftUs())
    printer << "ttft_us = " << numberText(ttft.getValueAsDouble())
            << (getTpotUs() ? ", " : "");
  if (FloatAttr tpot = getTpotUs())
    printer << "tpot_us = " << numberText(tpot.getValueAsDouble());
}

Attribute LimitsAttr::parse(AsmParser &parser, Type) {
  return parseInAngles<LimitsAttr>(parser);
}

void LimitsAttr::print(AsmPrinter &printer) const {
  printInAngles(printer, *this);
}

//===----------------------------------------------------------------------===//
// The op RequestsOp
//===----------------------------------------------------------------------===//

Requests RequestsOp::getRequests() {
  Requests requests;
  if (getRate())
    requests.ratePerS = getRate()->convertToDouble();
  requests.concurrency = getConcurrency().value_or(0);
  requests.prompt = getPrompt().getLengths();
  requests.answer = getOutput().getLengths();
  for (const RequestKnob &knob : requestKnobs()) {
    Attribute numbers = (*this)->getAttr(knob.key);
    if (auto number = dyn_cast_if_present<FloatAttr>(numbers))
      knob.set(requests, {number.getValueAsDouble()});
    else if (auto list = dyn_cast_if_present<DenseF64ArrayAttr>(numbers))
      knob.set(requests, list.asArrayRef().vec());
  }
  if (getSla())
    requests.limits = getSla()->getLimits();
  return requests;
}

LogicalResult RequestsOp::verify() {
  std::optional<Error> error = getRequests().verify();
  if (getConcurrency() && *getConcurrency() == 0)
    error = {"", "concurrency = 0: expected a number above 0", ""};
  if (!error)
    return verifyOnlyOne<RequestsOp>(*this, "load of requests");
  InFlightDiagnostic diag = emitOpError("has ") << error->message;
  if (!error->note.empty())
    diag.attachNote() << error->note;
  return diag;
}

void RequestsOp::readTexts() {
  Properties &own = getProperties();
  for (Attribute *lengths : {&own.prompt, &own.output})
    if (auto text = dyn_cast<StringAttr>(*lengths))
      if (auto read = TokenLengths::parse(text.str()))
        *lengths = LengthsAttr::get(getContext(), *read);
  if (auto text = dyn_cast_if_present<StringAttr>(own.sla))
    if (auto read = parseServiceLimits(text.str(), std::nullopt))
      own.sla = LimitsAttr::get(getContext(), *read);
}

//===----------------------------------------------------------------------===//
// Properties in bytecode
//===----------------------------------------------------------------------===//

static constexpr StringLiteral dialect =
    TransformerDialect::getDialectNamespace();
/// The first bytecode version in which a file contains the names of the
/// attributes, so that a new attribute does not change the format. Earlier
/// files contain the attributes in a fixed order.
static constexpr uint64_t firstWithNames = 9;

/// Calls `required` or `optional` for each property, in the order of files of
/// earlier versions.
template <typename Properties, typename Required, typename Optional>
static LogicalResult visitUnnamed(Properties &own, Required required,
                                  Optional optional) {
  return success(
      succeeded(optional(own.acceptance)) && succeeded(optional(own.cached)) &&
      succeeded(optional(own.concurrency)) &&
      succeeded(optional(own.draft_cost)) && succeeded(required(own.output)) &&
      succeeded(required(own.prompt)) && succeeded(optional(own.rate)) &&
      succeeded(optional(own.sla)));
}

LogicalResult RequestsOp::readProperties(DialectBytecodeReader &reader,
                                         OperationState &state) {
  auto &own = state.getOrAddProperties<Properties>();
  if (versionOf(reader, dialect) < firstWithNames)
    return visitUnnamed(
        own, [&](auto &property) { return reader.readAttribute(property); },
        [&](auto &property) { return reader.readOptionalAttribute(property); });
  DictionaryAttr named;
  if (failed(reader.readAttribute(named)))
    return failure();
  for (NamedAttribute attribute : named)
    if (!llvm::is_contained(getAttributeNames(), attribute.getName().strref()))
      return reader.emitError()
             << "transformer.requests has no attribute " << attribute.getName();
  return setPropertiesFromAttr(own, named, [&] { return reader.emitError(); });
}

void RequestsOp::writeProperties(DialectBytecodeWriter &writer) {
  Properties &own = getProperties();
  if (versionOf(writer, dialect) >= firstWithNames)
    return writer.writeAttribute(getPropertiesAsAttr(getContext(), own));
  auto write = [&](Attribute property) {
    writer.writeOptionalAttribute(property);
    return success();
  };
  auto writeRequired = [&](Attribute property) {
    writer.writeAttribute(property);
    return success();
  };
  (void)visitUnnamed(own, writeRequired, write);
}
