//===- Bytecode.cpp - Properties that earlier files do not have -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Words and operands that ops have since a version of bytecode come behind what
// earlier files have, in the order of that.
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Interfaces/BytecodeVersion.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

template <typename Bytecode>
static bool knows(Bytecode &bytecode, uint64_t first) {
  return versionOf(bytecode, TransformerDialect::getDialectNamespace()) >=
         first;
}

/// Reads the given attributes in order; each of them may be missing in the
/// file.
template <typename... Attrs>
static LogicalResult readAll(DialectBytecodeReader &reader, Attrs &...attrs) {
  return success((succeeded(reader.readOptionalAttribute(attrs)) && ...));
}

template <typename... Attrs>
static void writeAll(DialectBytecodeWriter &writer, Attrs &...attrs) {
  (writer.writeOptionalAttribute(attrs), ...);
}

LogicalResult RopeOp::readProperties(DialectBytecodeReader &reader,
                                     OperationState &state) {
  auto &own = state.getOrAddProperties<Properties>();
  if (failed(readAll(reader, own.interleaved, own.last, own.scaling)) ||
      failed(reader.readAttribute(own.theta)) ||
      failed(readAll(reader, own.width)))
    return failure();
  return knows(reader, firstWithInverse) ? readAll(reader, own.inverse)
                                         : success();
}

void RopeOp::writeProperties(DialectBytecodeWriter &writer) {
  Properties &own = getProperties();
  writeAll(writer, own.interleaved, own.last, own.scaling);
  writer.writeAttribute(own.theta);
  writeAll(writer, own.width);
  if (knows(writer, firstWithInverse))
    writeAll(writer, own.inverse);
}

LogicalResult AttentionOp::readProperties(DialectBytecodeReader &reader,
                                          OperationState &state) {
  auto &own = state.getOrAddProperties<Properties>();
  if (failed(readAll(reader, own.alibi, own.causal, own.chunk, own.max_distance,
                     own.scale, own.softcap, own.window)) ||
      failed(reader.readSparseArray(MutableArrayRef(own.operandSegmentSizes))))
    return failure();
  return knows(reader, firstWithSelected) ? readAll(reader, own.block)
                                          : success();
}

void AttentionOp::writeProperties(DialectBytecodeWriter &writer) {
  Properties &own = getProperties();
  writeAll(writer, own.alibi, own.causal, own.chunk, own.max_distance,
           own.scale, own.softcap, own.window);
  bool hasSelected = knows(writer, firstWithSelected);
  writer.writeSparseArray(
      ArrayRef(own.operandSegmentSizes).drop_back(hasSelected ? 0 : 1));
  if (hasSelected)
    writeAll(writer, own.block);
}

LogicalResult KVCacheOp::readProperties(DialectBytecodeReader &reader,
                                        OperationState &state) {
  auto &own = state.getOrAddProperties<Properties>();
  if (failed(readAll(reader, own.window)))
    return failure();
  return knows(reader, firstWithName) ? readAll(reader, own.name) : success();
}

void KVCacheOp::writeProperties(DialectBytecodeWriter &writer) {
  Properties &own = getProperties();
  writeAll(writer, own.window);
  if (knows(writer, firstWithName))
    writeAll(writer, own.name);
}

LogicalResult RouterOp::readProperties(DialectBytecodeReader &reader,
                                       OperationState &state) {
  auto &own = state.getOrAddProperties<Properties>();
  if (failed(readAll(reader, own.groups, own.keep, own.normalized, own.scale,
                     own.sigmoid)) ||
      failed(reader.readAttribute(own.top_k)) ||
      failed(reader.readSparseArray(MutableArrayRef(own.operandSegmentSizes))))
    return failure();
  return knows(reader, firstWithTable) ? readAll(reader, own.sqrt_softplus)
                                       : success();
}

void RouterOp::writeProperties(DialectBytecodeWriter &writer) {
  Properties &own = getProperties();
  writeAll(writer, own.groups, own.keep, own.normalized, own.scale,
           own.sigmoid);
  writer.writeAttribute(own.top_k);
  bool hasTable = knows(writer, firstWithTable);
  writer.writeSparseArray(
      ArrayRef(own.operandSegmentSizes).drop_back(hasTable ? 0 : 2));
  if (hasTable)
    writeAll(writer, own.sqrt_softplus);
}
