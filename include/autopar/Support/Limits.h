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
/// Digits of a number in .mlir text; parsing takes quadratic time.
inline constexpr uint64_t maxDigits = 4096;
/// Tokens of other aliases in the expansion of an alias of .mlir text, as
/// errors print it; size of a long alias; tokens in the expansions of all long
/// aliases.
inline constexpr uint64_t maxAliasSize = uint64_t(1) << 20;
inline constexpr uint64_t longAlias = 1024;
inline constexpr uint64_t maxExpandedSize = uint64_t(1) << 24;
/// Size of a .mlir text, and of a JSON document, which takes some 20 times that
/// in memory.
inline constexpr uint64_t maxModuleBytes = uint64_t(16) << 20;
inline constexpr uint64_t maxJsonBytes = uint64_t(24) << 20;
/// Size of a text file that is read.
inline constexpr uint64_t maxFileBytes = uint64_t(256) << 20;
/// Size of a downloaded config.json.
inline constexpr uint64_t maxConfigBytes = uint64_t(16) << 20;
/// Nodes and edges of an exported graph of a module.
inline constexpr size_t maxGraphNodes = 200'000;
inline constexpr size_t maxGraphEdges = 1'000'000;
/// Size of one dimension of a tensor (hidden size, vocabulary, experts, ...).
inline constexpr int64_t maxDimension = int64_t(1) << 40;
/// Layers of a model, and iterations of one `transformer.repeat`.
inline constexpr int64_t maxLayers = 1'000'000;
/// Layers of a stack of a config, and entries of its lists; every layer may
/// scan a list.
inline constexpr int64_t maxConfigLayers = 10'000;
/// Sequences, and tokens of a sequence.
inline constexpr int64_t maxTokens = int64_t(1) << 40;
/// Kinds of steps among the chunks of one prefill.
inline constexpr int64_t maxPrefillChunks = 4096;
/// Length of a chain of calls, which analyses follow recursively.
inline constexpr unsigned maxCallDepth = 1000;
/// Axes of a mesh.
inline constexpr size_t maxMeshAxes = 64;
/// Steps that the planner of a reshard visits before it falls back to reduce,
/// gather, slice.
inline constexpr int64_t maxReshardSteps = 50'000;
/// Pipeline stages times interleave, each with a range of layers.
inline constexpr int64_t maxVirtualStages = 4096;
/// Time of a layer, a stage or a transfer, and of a whole pipeline, in ps: 6.7
/// and 13.3 days. Memory of all layers, in bytes.
inline constexpr int64_t maxStageTimePs = int64_t(1) << 59;
inline constexpr int64_t maxPipelineTimePs = int64_t(1) << 60;
inline constexpr int64_t maxPipelineBytes = int64_t(1) << 60;
/// Choices that one search for a split into stages visits before it gives up.
inline constexpr int64_t maxStageSearch = 200'000;
/// Tasks of a simulated schedule, and its time in ps.
inline constexpr int64_t maxScheduledTasks = int64_t(1) << 24;
inline constexpr int64_t maxScheduledTimePs = int64_t(1) << 61;
/// Tasks of a written timeline: some 150 MB of text.
inline constexpr size_t maxTracedTasks = 1'000'000;
/// Requests of a simulation.
inline constexpr int64_t maxSimulatedRequests = 1'000'000;
/// Steps of a simulation: some ten seconds.
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
/// total steps of all patterns of a config.
inline constexpr size_t maxPatternLength = 1000;
inline constexpr size_t maxPatternStates = 10'000;
inline constexpr uint64_t maxPatternSteps = 100'000'000;
/// Groups of modules with different quantisation in a config.
inline constexpr size_t maxQuantizationSchemes = 1000;
/// Placement: experts of a layer, and slots of all ranks.
inline constexpr int64_t maxPlacedExperts = 16'384;
inline constexpr int64_t maxPlacedSlots = 65'536;
/// Experts of a token, and groups of experts, for counts of nodes per token.
inline constexpr int64_t maxNodeChoices = 256;
/// Experts in a matrix of joint routing, and nodes of a traced placement.
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

/// Columns of a table, cells of all its rows, bytes of one cell.
inline constexpr size_t maxTableColumns = 1000;
inline constexpr size_t maxTableCells = 16'000'000;
inline constexpr size_t maxCellBytes = size_t(64) << 10;

/// A bundle's files, its bytes packed and unpacked, and the ratio of both for
/// one file. Text packs by a factor of 20.
inline constexpr size_t maxBundleFiles = 256;
inline constexpr uint64_t maxBundleBytes = uint64_t(64) << 20;
inline constexpr uint64_t maxUnpackedBytes = uint64_t(256) << 20;
inline constexpr uint64_t maxPackingRatio = 200;

/// Rows of a sweep, and lines of its plot, which differ in colour.
inline constexpr int64_t maxSweepRows = 10'000;
inline constexpr size_t maxPlotSeries = 64;

} // namespace autopar::limits

#endif // AUTOPAR_SUPPORT_LIMITS_H
