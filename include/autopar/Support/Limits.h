//===- Limits.h - Every bound on input, in one place ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_LIMITS_H
#define AUTOPAR_SUPPORT_LIMITS_H

#include <cstddef>
#include <cstdint>

namespace autopar::limits {

/// Nesting of brackets in JSON and in .mlir text. MLIR's own parser overflows
/// the stack on deep nesting, so it never sees deeper text than this.
inline constexpr unsigned maxNestingDepth = 256;
/// Operators of an affine map or set, whose parser and printer recurse.
inline constexpr uint64_t maxAffineOperators = 1000;
/// Digits of a number in .mlir text: reading them takes their square.
inline constexpr uint64_t maxDigits = 4096;
/// Tokens of other aliases that an alias of .mlir text stands for, written out,
/// as errors and other forms write it; and those of all uses of long aliases.
inline constexpr uint64_t maxAliasSize = uint64_t(1) << 20;
inline constexpr uint64_t longAlias = 1024;
inline constexpr uint64_t maxExpandedSize = uint64_t(1) << 24;
/// Size of a text of .mlir, and of a JSON document, which takes some 20 times
/// that in memory.
inline constexpr uint64_t maxModuleBytes = uint64_t(16) << 20;
inline constexpr uint64_t maxJsonBytes = uint64_t(24) << 20;
/// Size of a text file that is read at all.
inline constexpr uint64_t maxFileBytes = uint64_t(256) << 20;
/// Size of a config.json that is downloaded.
inline constexpr uint64_t maxConfigBytes = uint64_t(16) << 20;
/// Nodes and edges of a module's graph that is written for others to draw.
inline constexpr size_t maxGraphNodes = 200'000;
inline constexpr size_t maxGraphEdges = 1'000'000;
/// Size of one dimension of a tensor (hidden size, vocabulary, experts, ...).
inline constexpr int64_t maxDimension = int64_t(1) << 40;
/// Layers of a model, and iterations of one `transformer.repeat`.
inline constexpr int64_t maxLayers = 1'000'000;
/// Layers of a stack of a config, and entries of its lists: every layer may
/// look through a list.
inline constexpr int64_t maxConfigLayers = 10'000;
/// Sequences, tokens of a sequence.
inline constexpr int64_t maxTokens = int64_t(1) << 40;
/// Kinds of steps that the chunks of one prefill are priced in.
inline constexpr int64_t maxPrefillChunks = 4096;
/// Functions that call each other in a chain: analyses follow them recursively.
inline constexpr unsigned maxCallDepth = 1000;
/// Axes of a mesh.
inline constexpr size_t maxMeshAxes = 64;
/// Steps that the planner of a reshard looks at before it takes the plain way:
/// reduce, gather, slice.
inline constexpr int64_t maxReshardSteps = 50'000;
/// Pipeline stages times interleave, and one layer range of each.
inline constexpr int64_t maxVirtualStages = 4096;
/// A time of a layer, a stage or a transfer, and all of a pipeline together,
/// in picoseconds: 6.7 days, and 13.3. The memory of all layers, in bytes.
inline constexpr int64_t maxStageTimePs = int64_t(1) << 59;
inline constexpr int64_t maxPipelineTimePs = int64_t(1) << 60;
inline constexpr int64_t maxPipelineBytes = int64_t(1) << 60;
/// Choices that one search for a split into stages under given limits looks at
/// before it gives up.
inline constexpr int64_t maxStageSearch = 200'000;
/// Tasks of a simulated schedule, and the time of all of them together.
inline constexpr int64_t maxScheduledTasks = int64_t(1) << 24;
/// Tasks of a timeline that is written: some 150 MB of text.
inline constexpr size_t maxTracedTasks = 1'000'000;
inline constexpr int64_t maxScheduledTimePs = int64_t(1) << 61;
/// Requests of a simulation.
inline constexpr int64_t maxSimulatedRequests = 1'000'000;
/// Steps of one: some ten seconds.
inline constexpr int64_t maxSimulatedSteps = 20'000'000;
/// Devices of a machine, and product of the sizes of a mesh.
inline constexpr int64_t maxDevices = int64_t(1) << 30;
/// Devices of a plan whose groups are listed one by one.
inline constexpr int64_t maxListedDevices = 4096;
/// Header of a safetensors file, as the reference library limits it.
inline constexpr uint64_t maxSafetensorsHeader = 100'000'000;
/// Tensors of a model that are compared with a checkpoint.
inline constexpr size_t maxComparedTensors = 10'000'000;
/// Lines that `--list-tensors` prints.
inline constexpr uint64_t maxListedTensors = 100'000'000;
/// Characters of a pattern for names of modules, states of its automaton, and
/// what all patterns of a config may cost together.
inline constexpr size_t maxPatternLength = 1000;
inline constexpr size_t maxPatternStates = 10'000;
inline constexpr uint64_t maxPatternSteps = 100'000'000;
/// Groups of modules that a config quantizes differently.
inline constexpr size_t maxQuantizationSchemes = 1000;
/// Experts of a layer and slots of all ranks that experts are placed in, and
/// experts whose joint routing is counted, a matrix of pairs, on so many nodes.
inline constexpr int64_t maxPlacedExperts = 16'384;
inline constexpr int64_t maxPlacedSlots = 65'536;
/// Experts of a token, and groups of experts, of which it is counted to how
/// many nodes it goes.
inline constexpr int64_t maxNodeChoices = 256;
inline constexpr int64_t maxCoactivatedExperts = 2048;
inline constexpr int64_t maxTracedNodes = 4096;
/// Records of a routing trace, and experts of one.
inline constexpr size_t maxTraceRecords = 4'000'000;
inline constexpr size_t maxRoutedExperts = 64;
/// Steps of the search for the placement of one layer.
inline constexpr int64_t maxPlacementSteps = 20'000'000;
/// Numbers of a load profile, and tokens that a synthetic one draws.
inline constexpr int64_t maxLoadNumbers = 10'000'000;
inline constexpr int64_t maxDrawnTokens = 100'000'000;

/// Columns of a table that is read, cells of all its rows, bytes of one cell.
inline constexpr size_t maxTableColumns = 1000;
inline constexpr size_t maxTableCells = 16'000'000;
inline constexpr size_t maxCellBytes = size_t(64) << 10;

/// Of a bundle: its files, their bytes as they lie in it and unpacked, and how
/// many times smaller packing may have made one. Text packs twentyfold.
inline constexpr size_t maxBundleFiles = 256;
inline constexpr uint64_t maxBundleBytes = uint64_t(64) << 20;
inline constexpr uint64_t maxUnpackedBytes = uint64_t(256) << 20;
inline constexpr uint64_t maxPackingRatio = 200;

/// Points of a sweep, and lines of its plot, which are told apart by colour.
inline constexpr int64_t maxSweepRows = 10'000;
inline constexpr size_t maxPlotSeries = 64;

} // namespace autopar::limits

#endif // AUTOPAR_SUPPORT_LIMITS_H
