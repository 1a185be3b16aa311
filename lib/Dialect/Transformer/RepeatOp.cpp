//===- RepeatOp.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Interfaces/BytecodeVersion.h"
#include "autopar/Support/Limits.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

void RepeatOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  for (Value result : getResults())
    setNameFn(result, "layers");
}

//===----------------------------------------------------------------------===//
// Parsing and printing of loops
//===----------------------------------------------------------------------===//

/// Parses a loop, as in `80 layers "model.layers" from 0 (%x = %x0) : !x { ...
/// }`.
ParseResult RepeatOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  int64_t count, first = 0;
  if (parser.parseInteger(count))
    return failure();
  state.addAttribute("count", builder.getI64IntegerAttr(count));
  if (succeeded(parser.parseOptionalKeyword("layers"))) {
    StringAttr prefix;
    if (parser.parseAttribute(prefix, "prefix", state.attributes) ||
        parser.parseKeyword("from") || parser.parseInteger(first))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("reversed")))
      state.addAttribute("reversed", builder.getUnitAttr());
  }
  state.addAttribute("first", builder.getI64IntegerAttr(first));

  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  // A loop that carries no values has neither parentheses nor types.
  OptionalParseResult carried =
      parser.parseOptionalAssignmentList(arguments, inits);
  if (carried.has_value() &&
      (failed(*carried) || parser.parseColonTypeList(types)))
    return failure();
  if (types.size() != arguments.size())
    return parser.emitError(loc) << "carries " << arguments.size()
                                 << " values of " << types.size() << " types";
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  state.addTypes(types);
  return failure(parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
                 parser.resolveOperands(inits, types, loc, state.operands) ||
                 parser.parseRegion(*state.addRegion(), arguments));
}

void RepeatOp::print(OpAsmPrinter &printer) {
  printer << " " << getCount();
  if (getPrefix()) {
    printer << " layers ";
    printer.printAttributeWithoutType(getPrefixAttr());
    printer << " from " << getFirst() << (getReversed() ? " reversed" : "");
  }
  if (!getInitArgs().empty()) {
    printer << " (";
    llvm::interleaveComma(
        llvm::zip_equal(getBody().getArguments(), getInitArgs()), printer,
        [&](auto pair) {
          printer << std::get<0>(pair) << " = " << std::get<1>(pair);
        });
    printer << ") : ";
    llvm::interleaveComma(getInitArgs().getTypes(), printer);
  }
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {"count", "prefix", "first", "reversed"});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Properties in bytecode
//===----------------------------------------------------------------------===//

static constexpr StringLiteral dialect =
    TransformerDialect::getDialectNamespace();
static constexpr uint64_t firstWithReversed = 3;

LogicalResult RepeatOp::readProperties(DialectBytecodeReader &reader,
                                       OperationState &state) {
  auto &own = state.getOrAddProperties<Properties>();
  if (failed(reader.readAttribute(own.count)) ||
      failed(reader.readOptionalAttribute(own.first)) ||
      failed(reader.readOptionalAttribute(own.prefix)))
    return failure();
  if (versionOf(reader, dialect) < firstWithReversed)
    return success();
  return reader.readOptionalAttribute(own.reversed);
}

void RepeatOp::writeProperties(DialectBytecodeWriter &writer) {
  Properties &own = getProperties();
  writer.writeAttribute(own.count);
  writer.writeOptionalAttribute(own.first);
  writer.writeOptionalAttribute(own.prefix);
  if (versionOf(writer, dialect) >= firstWithReversed)
    writer.writeOptionalAttribute(own.reversed);
}

//===----------------------------------------------------------------------===//
// Verification of loops
//===----------------------------------------------------------------------===//

LogicalResult RepeatOp::verify() {
  int64_t count = getCount();
  if (count < 1 || count > limits::maxLayers)
    return emitOpError() << "repeats " << count << " times, expected 1 to "
                         << limits::maxLayers;
  if (static_cast<int64_t>(getFirst()) < 0 ||
      static_cast<int64_t>(getFirst()) > limits::maxLayers)
    return emitOpError() << "starts at layer "
                         << static_cast<int64_t>(getFirst())
                         << ", expected 0 to " << limits::maxLayers;
  if (getInitArgs().getTypes() != getResultTypes())
    return emitOpError("carries values of other types than its results");
  if (getReversed() && !getPrefix())
    return emitOpError("is reversed, but names no layers");
  if (getPrefix())
    for (auto outer = (*this)->getParentOfType<RepeatOp>(); outer;
         outer = outer->getParentOfType<RepeatOp>())
      if (outer.getPrefix())
        return emitOpError()
               << "names layers \"" << *getPrefix() << "\" inside layers \""
               << *outer.getPrefix() << "\"";
  return success();
}

LogicalResult RepeatOp::verifyRegions() {
  if (getBody().getArgumentTypes() != getInitArgs().getTypes())
    return emitOpError("has a body with other arguments than it carries");
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield)
    return emitOpError("expected its body to end in transformer.yield");
  if (yield.getValues().getTypes() != getInitArgs().getTypes()) {
    InFlightDiagnostic diag =
        emitOpError("carries values of other types than it yields");
    diag.attachNote(yield.getLoc()) << "yielded here";
    return diag;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Functions of LoopLikeOpInterface
//===----------------------------------------------------------------------===//

SmallVector<Region *> RepeatOp::getLoopRegions() { return {&getBody()}; }

std::optional<ResultRange> RepeatOp::getLoopResults() { return getResults(); }

llvm::MutableArrayRef<OpOperand> RepeatOp::getInitsMutable() {
  return getInitArgsMutable();
}

Block::BlockArgListType RepeatOp::getRegionIterArgs() {
  return getBody().getArguments();
}

std::optional<MutableArrayRef<OpOperand>> RepeatOp::getYieldedValuesMutable() {
  return getBody().front().getTerminator()->getOpOperands();
}

std::optional<APInt> RepeatOp::getStaticTripCount() {
  return APInt(64, getCount());
}
