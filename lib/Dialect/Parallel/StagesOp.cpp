//===- StagesOp.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Parallel/Parallel.h"

#include "StagesSyntax.h"

#include "autopar/Interfaces/ModuleOps.h"
#include "autopar/Schedule/Schedule.h"
#include "autopar/Support/Limits.h"

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::parallel;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Parsing and printing of ranges of layers
//===----------------------------------------------------------------------===//

/// The words for ranges without layers at the first and the last stage.
static constexpr StringLiteral embeddingAlone = "embedding", headAlone = "head";

ParseResult parallel::parseLayerRanges(OpAsmParser &parser,
                                       DenseI64ArrayAttr &ends) {
  SmallVector<int64_t> parsed;
  auto parseRange = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    int64_t first, last, next = parsed.empty() ? 0 : parsed.back();
    StringRef end;
    if (succeeded(
            parser.parseOptionalKeyword(&end, {embeddingAlone, headAlone}))) {
      bool isEmbedding = end == embeddingAlone;
      if (isEmbedding != parsed.empty())
        return parser.emitError(loc) << end << " alone is "
                                     << (isEmbedding ? "the first" : "the last")
                                     << " of several ranges";
      parsed.push_back(next);
      return success();
    }
    if (parser.parseInteger(first) || parser.parseKeyword("to") ||
        parser.parseInteger(last))
      return failure();
    if (first != next)
      return parser.emitError(loc)
             << "a range begins with layer " << first << ", expected " << next;
    if (last < first || last >= limits::maxLayers)
      return parser.emitError(loc)
             << "a range ends with layer " << last << ", expected " << first
             << " to " << limits::maxLayers - 1;
    parsed.push_back(last + 1);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRange))
    return failure();
  ends = parser.getBuilder().getDenseI64ArrayAttr(parsed);
  return success();
}

void parallel::printLayerRanges(OpAsmPrinter &printer, Operation *,
                                DenseI64ArrayAttr ends) {
  int64_t first = 0;
  printer << "[";
  llvm::interleaveComma(ends.asArrayRef(), printer, [&](int64_t end) {
    if (end == first)
      printer << (first == 0 ? embeddingAlone : headAlone);
    else
      printer << first << " to " << end - 1;
    first = end;
  });
  printer << "]";
}

std::vector<LayerRange> StagesOp::getRanges() {
  std::vector<LayerRange> ranges;
  int64_t first = 0;
  for (int64_t end : getEnds()) {
    ranges.push_back({first, end});
    first = end;
  }
  return ranges;
}

//===----------------------------------------------------------------------===//
// Verification of pipeline stages
//===----------------------------------------------------------------------===//

static LogicalResult verifyRanges(StagesOp op) {
  ArrayRef<int64_t> ends = op.getEnds();
  int64_t first = 0;
  for (auto [i, end] : llvm::enumerate(ends)) {
    bool mayBeEmpty = ends.size() > 1 && (i == 0 || i + 1 == ends.size());
    int64_t least = first + (mayBeEmpty ? 0 : 1);
    if (end < least || end > limits::maxLayers)
      return op.emitOpError()
             << "has a range that ends before layer " << end << ", expected "
             << least << " to " << limits::maxLayers;
    first = end;
  }
  auto count = static_cast<int64_t>(ends.size());
  auto interleave = static_cast<int64_t>(op.getInterleave());
  if (count < 1 || count > limits::maxVirtualStages)
    return op.emitOpError()
           << "has " << count << " ranges of layers, expected 1 to "
           << limits::maxVirtualStages;
  if (interleave < 1 || count % interleave != 0)
    return op.emitOpError() << "has " << count
                            << " ranges of layers, which do not divide by "
                               "interleave "
                            << interleave;
  return success();
}

LogicalResult parallel::verifyMicrobatches(MicrobatchesOpInterface op) {
  if (failed(verifyOnlyOne<MicrobatchesOpInterface>(op, "division of a batch")))
    return failure();
  auto microbatches = static_cast<int64_t>(op.getMicrobatches());
  if (microbatches >= 1 && microbatches <= limits::maxScheduledTasks)
    return success();
  return op.emitOpError() << "has " << microbatches
                          << " microbatches, expected 1 to "
                          << limits::maxScheduledTasks;
}

static LogicalResult verifySchedule(StagesOp op) {
  ScheduleKind kind = op.getSchedule();
  if ((kind == ScheduleKind::interleaved) != (op.getInterleave() > 1))
    return op.emitOpError() << "has interleave " << op.getInterleave()
                            << " with schedule " << nameOf(kind)
                            << ": the schedule interleaved, and only it, "
                               "needs more than 1";
  return success();
}

/// Verifies that the op's axis exists and has as many devices as there are
/// stages.
static LogicalResult verifyAxis(StagesOp op) {
  if (op.getAxes().size() != 1)
    return op.emitOpError()
           << "is over " << op.getAxes().size()
           << " axes, expected one; of one stage, training.microbatches "
              "divides the batch";
  StringRef axis = cast<StringAttr>(op.getAxes()[0]).getValue();
  DeviceMeshOpInterface mesh = findMesh(op);
  std::optional<int64_t> size =
      mesh ? mesh.getAxisSize(axis) : std::optional<int64_t>();
  if (!size)
    return op.emitOpError()
           << "is over an axis '" << axis << "' that no mesh of the module has";
  auto stages = static_cast<int64_t>(op.getEnds().size() / op.getInterleave());
  if (*size == 0 || *size == stages)
    return success();
  return op.emitOpError() << "has " << op.getEnds().size()
                          << " ranges of layers with interleave "
                          << op.getInterleave() << " for the " << *size
                          << " devices of axis '" << axis << "', expected "
                          << *size * static_cast<int64_t>(op.getInterleave());
}

LogicalResult StagesOp::verify() {
  return failure(
      failed(verifyMicrobatches(*this)) || failed(verifyRanges(*this)) ||
      failed(verifySchedule(*this)) ||
      failed(verifyAssumed(*this, getAssumed(),
                           {"schedule", "microbatches", "stages"})) ||
      failed(verifyAxis(*this)));
}
