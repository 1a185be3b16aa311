//===- TransformerOps.cpp - Syntax and verifiers --------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// A floating-point attribute without its type, in its shortest form.
static ParseResult parseNumber(OpAsmParser &parser, FloatAttr &attr) {
  double value;
  if (parser.parseFloat(value))
    return failure();
  attr = parser.getBuilder().getF64FloatAttr(value);
  return success();
}

static void printNumber(OpAsmPrinter &printer, Operation *, FloatAttr attr) {
  std::string text = formatNumber(attr.getValueAsDouble());
  // The parser wants digits and a point before an exponent.
  size_t exponent = text.find('e');
  if (text.find('.') == std::string::npos)
    text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  printer << text;
}

/// `[1*2, 0]`, `[1*2, 0] as f8E4M3FN`.
static ParseResult parseStorage(OpAsmParser &parser, StorageAttr &storage) {
  storage = StorageAttr::parseBody(parser);
  return success(storage != nullptr);
}

static void printStorage(OpAsmPrinter &printer, Operation *,
                         StorageAttr storage) {
  storage.printBody(printer);
}

#define GET_OP_CLASSES
#include "autopar/Dialect/Transformer/TransformerOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Names of results
//===----------------------------------------------------------------------===//

/// "self_attn.q_proj.weight" -> "q_proj"; "x.q_proj.bias" -> "q_proj_bias".
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

/// Products are called after their weight: `%q = linear %x, %q_proj`.
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

#define AUTOPAR_NAME_RESULT(OP, NAME)                                          \
  void OP::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {                  \
    setNameFn(getResult(), NAME);                                              \
  }
AUTOPAR_NAME_RESULT(EmbeddingOp, "embedding")
AUTOPAR_NAME_RESULT(LastTokenOp, "last")
AUTOPAR_NAME_RESULT(LogitsOp, "logits")
AUTOPAR_NAME_RESULT(AddBiasOp, "biased")
AUTOPAR_NAME_RESULT(RMSNormOp, "norm")
AUTOPAR_NAME_RESULT(LayerNormOp, "norm")
AUTOPAR_NAME_RESULT(RopeOp, "rope")
AUTOPAR_NAME_RESULT(AttentionOp, "attn")
AUTOPAR_NAME_RESULT(AddOp, "add")
AUTOPAR_NAME_RESULT(ActivationOp, "activation")
AUTOPAR_NAME_RESULT(GatedOp, "gated")
AUTOPAR_NAME_RESULT(RouterOp, "router")
AUTOPAR_NAME_RESULT(DispatchOp, "dispatch")
AUTOPAR_NAME_RESULT(CombineOp, "combine")
#undef AUTOPAR_NAME_RESULT

//===----------------------------------------------------------------------===//
// WorkloadOp
//===----------------------------------------------------------------------===//

ArrayRef<StringRef> WorkloadOp::getSymbols() {
  static constexpr StringRef symbols[] = {"batch", "query", "context"};
  return symbols;
}

Workload WorkloadOp::getWorkload() {
  Workload workload;
  workload.phase =
      getPhase() == PhaseKind::prefill ? Phase::prefill : Phase::decode;
  workload.batch = getBatch();
  workload.query = getQuery();
  workload.context = getContextLength();
  return workload;
}

/// Refuses a second op of `Interface` in the same module.
template <typename Interface>
static LogicalResult verifyOnlyOne(Operation *op, StringRef what) {
  auto module = dyn_cast_or_null<ModuleOp>(op->getParentOp());
  if (!module)
    return op->emitOpError("must be directly inside a module");
  for (Interface other : module.getOps<Interface>()) {
    if (other == op)
      return success();
    InFlightDiagnostic diag = op->emitOpError()
                              << "is a second " << what << " of its module";
    diag.attachNote(other->getLoc()) << "the first is here";
    return diag;
  }
  return success();
}

LogicalResult WorkloadOp::verify() {
  Workload step = getWorkload();
  std::pair<StringRef, int64_t> counts[] = {
      {"batch", step.batch}, {"query", step.query}, {"context", step.context}};
  for (auto [name, count] : counts)
    if (count < 1 || count > limits::maxTokens)
      return emitOpError() << "has " << name << " = " << count
                           << ", expected 1 to " << limits::maxTokens;
  if (step.query > step.context)
    return emitOpError() << "has query = " << step.query
                         << " above context = " << step.context
                         << ": context counts the new tokens too";
  return verifyOnlyOne<SymbolBindingOpInterface>(*this, "workload");
}

//===----------------------------------------------------------------------===//
// WeightOp, KVCacheOp
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
  if (view.rank() != 5 || view.extentText(0) != "2" ||
      view.extentText(1) != "batch" || view.extentText(2) != "context" ||
      view.isSymbolic(3) || view.isSymbolic(4))
    return emitOpError(
        "expected a tensor [2, batch, context, kv heads, head_dim]");
  if (!view.partialAxes().empty())
    return emitOpError("is a partial sum");
  if (getWindow() && static_cast<int64_t>(*getWindow()) < 1)
    return emitOpError() << "has a window of " << *getWindow()
                         << " tokens, expected at least 1";
  return success();
}

//===----------------------------------------------------------------------===//
// Compute ops: what their factors do not say
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

static LogicalResult verifyEps(Operation *op, const APFloat &eps) {
  if (eps.isNegative() || !eps.isFinite())
    return op->emitOpError("has an eps that is not a positive number");
  return success();
}

LogicalResult RMSNormOp::verify() { return verifyEps(*this, getEps()); }

LogicalResult LayerNormOp::verify() {
  if (getBias() && getBias().getType() != getWeight().getType())
    return emitOpError("has a bias of another type than its weight");
  return verifyEps(*this, getEps());
}

LogicalResult RopeOp::verify() {
  TensorView view(getX());
  unsigned last = view.rank() - 1;
  if (view.isSymbolic(last) || view.getType().getDimSize(last) % 2)
    return emitOpError() << "turns pairs, but the last dimension is "
                         << view.extentText(last);
  if (!getTheta().isFinite() || !(getTheta().convertToDouble() > 0))
    return emitOpError("has a theta that is not a positive number");
  return success();
}

LogicalResult AttentionOp::verify() {
  for (Value operand : {getQuery(), getKey(), getValue()})
    for (unsigned dim : {2, 3})
      if (TensorView(operand).isSymbolic(dim))
        return emitOpError()
               << "has " << TensorView(operand).extentText(dim)
               << " for dimension " << dim << ", expected a number";
  int64_t heads = TensorView(getQuery()).getType().getDimSize(2);
  int64_t kvHeads = TensorView(getKey()).getType().getDimSize(2);
  if (heads < 1 || kvHeads < 1 || heads % kvHeads)
    return emitOpError() << "has " << heads << " query heads, which " << kvHeads
                         << " key-value heads do not divide";
  if (getWindow() && static_cast<int64_t>(*getWindow()) < 1)
    return emitOpError() << "has a window of " << *getWindow()
                         << " tokens, expected at least 1";
  return success();
}

static LogicalResult verifyTopK(Operation *op, int64_t topK, int64_t experts) {
  if (topK >= 1 && topK <= experts)
    return success();
  return op->emitOpError() << "has top_k(" << topK << ") of " << experts
                           << " experts";
}

LogicalResult RouterOp::verify() {
  TensorView weight(getWeight()), result(getResult());
  if (weight.isSymbolic(1))
    return emitOpError() << "routes to " << weight.extentText(1)
                         << " experts, expected a number";
  if (result.extentText(result.rank() - 1) != std::to_string(getTopK()))
    return emitOpError() << "keeps " << getTopK()
                         << " experts, but the result has "
                         << result.extentText(result.rank() - 1);
  return verifyTopK(*this, getTopK(), weight.getType().getDimSize(1));
}

LogicalResult ExpertsOp::verify() {
  std::string rows = TensorView(getX()).extentText(0);
  std::optional<ExtentProduct> product = parseExtent(rows);
  int64_t topK = getTopK();
  if (rows.front() != '{' || !product || topK < 1 || product->factor % topK)
    return emitOpError() << "expected a set of {tokens*" << topK
                         << "} routed tokens, found " << rows;
  return verifyTopK(*this, getTopK(),
                    TensorView(getWeight()).getType().getDimSize(0));
}

/// The set has one element per token and expert: its extent is the product of
/// the token dimensions and of what the routing keeps.
static LogicalResult verifyRouted(Operation *op, Value tokens, Value routing,
                                  Value set) {
  TensorView dense(tokens), kept(routing);
  ExtentProduct expected;
  SmallVector<std::string> texts;
  for (unsigned i = 0; i + 1 < dense.rank(); ++i)
    texts.push_back(dense.extentText(i));
  texts.push_back(kept.extentText(kept.rank() - 1));
  for (const std::string &text : texts) {
    std::optional<ExtentProduct> part = parseExtent(text);
    if (!part ||
        llvm::MulOverflow(expected.factor, part->factor, expected.factor))
      return op->emitOpError("has more routed tokens than 63 bits count");
    expected.symbols.append(part->symbols);
  }
  std::string text = TensorView(set).extentText(0);
  std::optional<ExtentProduct> found = parseExtent(text);
  llvm::sort(expected.symbols);
  if (found)
    llvm::sort(found->symbols);
  if (found && found->factor == expected.factor &&
      found->symbols == expected.symbols)
    return success();
  return op->emitOpError() << "routes a set of " << text << ", expected "
                           << llvm::join(texts, "*");
}

LogicalResult DispatchOp::verify() {
  return verifyRouted(*this, getX(), getRouting(), getResult());
}

LogicalResult CombineOp::verify() {
  return verifyRouted(*this, getResult(), getRouting(), getX());
}
