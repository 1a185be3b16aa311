//===- TransformerOps.cpp - Syntax and verifiers --------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/NormTypes.h"
#include "autopar/Dialect/Transformer/Verifiers.h"

#include "autopar/Interfaces/ModuleOps.h"
#include "autopar/Interfaces/NumberSyntax.h"
#include "autopar/Interfaces/WordSyntax.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Parsing and printing of parts of ops
//===----------------------------------------------------------------------===//

/// Returns the type of a KV cache of all positions that is split like the given
/// keys and values; null if their types do not determine it.
static Type cacheTypeOf(Type key, Type value) {
  auto keys = dyn_cast<RankedTensorType>(key),
       values = dyn_cast<RankedTensorType>(value);
  if (!keys || !values || keys.getRank() != 4 || values.getRank() != 4)
    return {};
  auto encoding =
      dyn_cast_or_null<DimensionEncodingInterface>(keys.getEncoding());
  SmallVector<int64_t> shape(keys.getShape());
  if (!encoding || !keys.isDynamicDim(1) || keys.isDynamicDim(3) ||
      values.isDynamicDim(3) ||
      llvm::AddOverflow(shape[3], values.getDimSize(3), shape[3]))
    return {};
  auto context = NamedExtent::symbol(key.getContext(), "context");
  return CacheType::get(RankedTensorType::get(shape, keys.getElementType(),
                                              encoding.withExtent(1, context)));
}

/// Parses the types of an attention, `!q, !k, !v -> !y`. Values have the type
/// of keys, and results that of queries, unless others are stated.
static ParseResult
parseAttentionTypes(OpAsmParser &parser,
                    const std::optional<OpAsmParser::UnresolvedOperand> &cache,
                    Type &query, Type &key, Type &value, Type &cacheType,
                    Type &result) {
  if (parser.parseType(query) || parser.parseComma() || parser.parseType(key))
    return failure();
  value = key;
  result = query;
  if (succeeded(parser.parseOptionalComma()) && parser.parseType(value))
    return failure();
  if (cache) {
    SMLoc loc = parser.getCurrentLocation();
    bool isWritten = succeeded(parser.parseOptionalKeyword("in"));
    if (isWritten && parser.parseType(cacheType))
      return failure();
    if (!isWritten)
      cacheType = cacheTypeOf(key, value);
    if (!cacheType)
      return parser.emitError(loc, "expected 'in' and the type of the cache");
  }
  return success(failed(parser.parseOptionalArrow()) ||
                 succeeded(parser.parseType(result)));
}

static void printAttentionTypes(OpAsmPrinter &printer, Operation *, Value cache,
                                Type query, Type key, Type value,
                                Type cacheType, Type result) {
  printer << query << ", " << key;
  if (value != key)
    printer << ", " << value;
  if (cache && cacheType != cacheTypeOf(key, value))
    printer << " in " << cacheType;
  if (result != query)
    printer << " -> " << result;
}

/// Parses the storage of a weight, as in `[1*2, 0]` or `[1*2, 0] as f8E4M3FN`.
static ParseResult parseStorage(OpAsmParser &parser, StorageAttr &storage) {
  storage = StorageAttr::parseBody(parser);
  return success(storage != nullptr);
}

static void printStorage(OpAsmPrinter &printer, Operation *,
                         StorageAttr storage) {
  storage.printBody(printer);
}

/// Parses and prints lengths of encoders, as in `, encoder_tokens = 576,
/// cross_tokens = 1500`. A length of 0 is not printed.
static ParseResult parseEncodedLengths(OpAsmParser &parser,
                                       IntegerAttr &encoder,
                                       IntegerAttr &cross) {
  Builder &builder = parser.getBuilder();
  encoder = cross = builder.getI64IntegerAttr(0);
  auto parseLength = [&](IntegerAttr &attr) -> ParseResult {
    int64_t length;
    if (parser.parseEqual() || parser.parseInteger(length))
      return failure();
    attr = builder.getI64IntegerAttr(length);
    return success();
  };
  if (failed(parser.parseOptionalComma()))
    return success();
  if (succeeded(parser.parseOptionalKeyword("encoder_tokens"))) {
    if (parseLength(encoder))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
  }
  return failure(parser.parseKeyword("cross_tokens") || parseLength(cross));
}

static void printEncodedLengths(OpAsmPrinter &printer, Operation *,
                                IntegerAttr encoder, IntegerAttr cross) {
  if (encoder && encoder.getInt() != 0)
    printer << ", encoder_tokens = " << encoder.getInt();
  if (cross && cross.getInt() != 0)
    printer << ", cross_tokens = " << cross.getInt();
}

/// Parses the load of a service, as in `rate = 20.0` or `concurrency = 64`.
static ParseResult parseRequestCount(OpAsmParser &parser, FloatAttr &rate,
                                     IntegerAttr &concurrency) {
  if (succeeded(parser.parseOptionalKeyword("rate")))
    return failure(parser.parseEqual() || parseNumber(parser, rate));
  int64_t count;
  if (parser.parseKeyword("concurrency", ", or 'rate'") ||
      parser.parseEqual() || parser.parseInteger(count))
    return failure();
  concurrency = parser.getBuilder().getI64IntegerAttr(count);
  return success();
}

static void printRequestCount(OpAsmPrinter &printer, Operation *op,
                              FloatAttr rate, IntegerAttr concurrency) {
  if (concurrency) {
    printer << "concurrency = " << concurrency.getInt();
    return;
  }
  printer << "rate = ";
  printNumber(printer, op, rate);
}

static ParseResult parseLengths(OpAsmParser &parser, Attribute &lengths) {
  return success(bool(lengths = LengthsAttr::parseBody(parser)));
}
static void printLengths(OpAsmPrinter &printer, Operation *,
                         Attribute lengths) {
  cast<LengthsAttr>(lengths).printBody(printer);
}

static ParseResult parseLimits(OpAsmParser &parser, Attribute &limits) {
  return success(bool(limits = LimitsAttr::parseBody(parser)));
}
static void printLimits(OpAsmPrinter &printer, Operation *, Attribute limits) {
  cast<LimitsAttr>(limits).printBody(printer);
}

#define GET_OP_CLASSES
#include "autopar/Dialect/Transformer/TransformerOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Names of results in printed IR
//===----------------------------------------------------------------------===//

/// Returns a short SSA name for a weight: "self_attn.q_proj.weight" ->
/// "q_proj"; "x.q_proj.bias" -> "q_proj_bias".
static std::string shortName(StringRef name) {
  StringRef kind = name;
  bool bias = kind.consume_back(".bias");
  if (!bias)
    kind.consume_back(".weight");
  std::string text = kind.rsplit('.').second.str();
  if (text.empty())
    text = kind.str();
  return text + (bias ? "_bias" : "");
}

void WeightOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  setNameFn(getResult(), shortName(getName()));
}

void KVCacheOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  setNameFn(getResult(), "cache");
}

/// Names the result of a matmul after its weight: `%q = linear %x, %q_proj`.
static void nameAfterWeight(Value result, Value weight, StringRef otherwise,
                            OpAsmSetValueNameFn setNameFn) {
  auto op = weight.getDefiningOp<WeightOp>();
  if (!op)
    return setNameFn(result, otherwise);
  std::string name = shortName(op.getName());
  StringRef stem = name;
  setNameFn(result, stem.consume_back("_proj") ? stem.str() : name + "_out");
}

void LinearOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  nameAfterWeight(getResult(), getWeight(), "linear", setNameFn);
}

void ExpertsOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  nameAfterWeight(getResult(), getWeight(), "experts", setNameFn);
}

//===----------------------------------------------------------------------===//
// The op WorkloadOp
//===----------------------------------------------------------------------===//

ArrayRef<StringRef> WorkloadOp::getSymbols() {
  static constexpr StringRef symbols[] = {"batch", "query", "context",
                                          "encoder_tokens", "cross_tokens"};
  return symbols;
}

static Phase phaseOf(PhaseKind kind) {
  switch (kind) {
  case PhaseKind::prefill:
    return Phase::prefill;
  case PhaseKind::decode:
    return Phase::decode;
  case PhaseKind::train:
    return Phase::train;
  }
  llvm_unreachable("covered switch");
}

Workload WorkloadOp::getWorkload() {
  Workload workload;
  workload.phase = phaseOf(getPhase());
  workload.batch = getBatch();
  workload.query = getQuery();
  workload.context = getContextLength();
  workload.encoderTokens = getEncoderTokens();
  workload.crossTokens = getCrossTokens();
  return workload;
}

LogicalResult WorkloadOp::verify() {
  Workload step = getWorkload();
  std::tuple<StringRef, int64_t, int64_t> counts[] = {
      {"batch", step.batch, 1},
      {"query", step.query, 1},
      {"context", step.context, 1},
      {"encoder_tokens", step.encoderTokens, 0},
      {"cross_tokens", step.crossTokens, 0}};
  for (auto [name, count, least] : counts)
    if (count < least || count > limits::maxTokens)
      return emitOpError() << "has " << name << " = " << count << ", expected "
                           << least << " to " << limits::maxTokens;
  if (step.query > step.context)
    return emitOpError() << "has query = " << step.query
                         << " above context = " << step.context
                         << ": context counts the new tokens too";
  return failure(
      failed(verifyAssumed(*this, getAssumed(),
                           {"phase", "batch", "query", "context"})) ||
      failed(verifyOnlyOne<SymbolBindingOpInterface>(*this, "workload")));
}

//===----------------------------------------------------------------------===//
// The ops WeightOp and KVCacheOp
//===----------------------------------------------------------------------===//

LogicalResult WeightOp::verify() {
  TensorView view(getResult());
  if (getName().empty())
    return emitOpError("has no name");
  if (!view.getType().hasStaticShape())
    return emitOpError("has a symbolic shape, expected numbers");
  if (!view.partialAxes().empty())
    return emitOpError("is a partial sum");
  int64_t elements = 1;
  for (int64_t size : view.getType().getShape())
    if (llvm::MulOverflow(elements, size, elements))
      return emitOpError("has more elements than 63 bits count");
  if (failed(verifyStorage(*this)))
    return failure();
  return verifyParts(*this);
}

LogicalResult KVCacheOp::verify() {
  TensorView view(getResult());
  bool known =
      (view.rank() == 3 || view.rank() == 4) && view.extent(0).is("batch") &&
      (view.extent(1).is("context") || view.extent(1).is("cross_tokens"));
  for (unsigned dim = 2; known && dim < view.rank(); ++dim)
    known = !view.isSymbolic(dim);
  if (!known)
    return emitOpError("expected a tensor [batch, context, kv heads, width] or "
                       "[batch, context, width], or one of cross_tokens");
  if (!view.partialAxes().empty())
    return emitOpError("is a partial sum");
  for (unsigned dim = 0; dim < view.rank(); ++dim)
    if (view.dim(dim).rule == SplitRule::ring)
      return emitOpError("has parts that go round: parallel.ring brings them");
  return verifyLimit(*this, "window", getWindow());
}

//===----------------------------------------------------------------------===//
// Compute ops: verification of what their factors do not check
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingOp::verify() {
  if (!isa<IntegerType>(TensorView(getIds()).getType().getElementType()))
    return emitOpError("looks up with tokens that are not integers");
  return success();
}

int64_t LinearOp::getNumContracted() {
  return (static_cast<int64_t>(TensorView(getX()).rank()) +
          TensorView(getWeight()).rank() - TensorView(getResult()).rank()) /
         2;
}

LogicalResult ScaleOp::verify() {
  if (!getFactor().isFinite())
    return emitOpError("scales by a number that is not finite");
  return success();
}

LogicalResult GatedOp::verify() {
  return getLimit() ? verifyPositive(*this, "limit", *getLimit()) : success();
}

LogicalResult SoftcapOp::verify() {
  return verifyPositive(*this, "cap", getCap());
}

LogicalResult PositionEmbeddingOp::verify() {
  if (getFirst() && getSame())
    return emitOpError("has both first and same");
  TensorView x(getX());
  int64_t hidden = x.getType().getShape().back();
  int64_t elements = 1;
  for (int64_t size : TensorView(getTable()).getType().getShape())
    if (ShapedType::isDynamic(size) ||
        llvm::MulOverflow(elements, size, elements))
      return emitOpError("has a table of unknown size");
  if (ShapedType::isDynamic(hidden) || elements % hidden == 0)
    return success();
  return emitOpError() << "has a table of " << elements
                       << " elements, which are not rows of " << hidden;
}

/// Verifies the strides of a convolution, whose kernel spans a plane
/// (`isPlane`) or a row.
template <typename Op>
static LogicalResult verifyStrides(Op op, bool isPlane) {
  TensorView x(op.getX()), result(op.getResult());
  NamedExtent before = x.extent(1), after = result.extent(1);
  std::optional<int64_t> ratio = before.dividedBy(after);
  if (!ratio)
    return op.emitOpError() << "makes " << after.str() << " tokens of "
                            << before.str() << ", which they do not divide";
  if (x.rank() == 3) {
    auto side = int64_t(std::sqrt(double(*ratio)));
    if (!isPlane || side * side == *ratio)
      return success();
    return op.emitOpError()
           << "makes " << after.str() << " tokens of a plane of "
           << before.str() << ", which it divides by no square";
  }
  NamedExtent wide = x.extent(2), narrow = result.extent(2);
  if (wide.dividedBy(narrow))
    return success();
  return op.emitOpError() << "makes " << narrow.str() << " columns of "
                          << wide.str() << ", which they do not divide";
}

LogicalResult ConvolutionOp::verify() {
  return verifyStrides(*this, TensorView(getWeight()).rank() == 4);
}

LogicalResult ChannelConvolutionOp::verify() {
  return verifyStrides(*this, TensorView(getWeight()).rank() == 3);
}

LogicalResult transformer::verifyMerge(Operation *op, Value tokens,
                                       Value merged, bool isMean) {
  TensorView x(tokens), result(merged);
  NamedExtent before = x.extent(1), after = result.extent(1);
  std::optional<int64_t> count = before.dividedBy(after);
  if (!count)
    return op->emitOpError() << "merges " << before.str() << " tokens into "
                             << after.str() << ", which do not divide them";
  if (isMean)
    return success();
  NamedExtent width = x.extent(2);
  int64_t found = 1;
  for (int64_t d = 2; d < result.rank(); ++d)
    if (!ShapedType::isDynamic(result.getType().getDimSize(d)) &&
        llvm::MulOverflow(found, result.getType().getDimSize(d), found))
      return op->emitOpError("has too many elements in a token");
  if (NamedExtent::number(found).dividedBy(width) == count)
    return success();
  return op->emitOpError() << "merges " << *count << " tokens of "
                           << width.str() << " elements into one of " << found;
}

LogicalResult MergeTokensOp::verify() {
  return verifyMerge(*this, getX(), getResult(), getMean());
}
