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

/// Deepest nesting of brackets in JSON and in .mlir text. MLIR's own parser
/// overflows the stack on deep nesting, so it never gets deeper text than this.
inline constexpr unsigned maxNestingDepth = 256;
/// Largest number of operators of an affine map or set, whose parser and
/// printer recurse.
inline constexpr uint64_t maxAffineOperators = 1000;
/// Largest number of digits of a number in .mlir text; parsing takes quadratic
/// time.
inline constexpr uint64_t maxDigits = 4096;
/// Largest number of tokens in the expansion of an alias of .mlir text, as
/// errors print it; size from which an alias counts as long; largest number of
/// tokens in the expansions of all long aliases together.
inline constexpr uint64_t maxAliasSize = uint64_t(1) << 20;
inline constexpr uint64_t longAlias = 1024;
inline constexpr uint64_t maxExpandedSize = uint64_t(1) << 24;
/// Largest size of a .mlir text, and of a JSON document, which takes some 20
/// times that in memory.
inline constexpr uint64_t maxModuleBytes = uint64_t(16) << 20;
inline constexpr uint64_t maxJsonBytes = uint64_t(24) << 20;
/// Largest size of a text file that is read.
inline constexpr uint64_t maxFileBytes = uint64_t(256) << 20;
/// Largest size of a downloaded config.json.
inline constexpr uint64_t maxConfigBytes = uint64_t(16) << 20;
/// Largest numbers of nodes and edges in the exported graph of a module.
inline constexpr size_t maxGraphNodes = 200'000;
inline constexpr size_t maxGraphEdges = 1'000'000;
/// Largest extent of a tensor's dimension (hidden size, vocabulary, experts,
/// ...).
inline constexpr int64_t maxDimension = int64_t(1) << 40;
/// Largest number of layers of a model, and of iterations of one
/// `transformer.repeat`.
inline constexpr int64_t maxLayers = 1'000'000;
/// Largest number of layers in a stack of a config, and of entries in a
/// config's lists; every layer may scan a list.
inline constexpr int64_t maxConfigLayers = 10'000;
/// Largest number of sequences, and of tokens of a sequence.
inline constexpr int64_t maxTokens = int64_t(1) << 40;
/// Largest number of kinds of steps among the chunks of one prefill.
inline constexpr int64_t maxPrefillChunks = 4096;
/// Longest chain of calls, which analyses follow recursively.
inline constexpr unsigned maxCallDepth = 1000;
/// The largest number of axes of a mesh.
inline constexpr size_t maxMeshAxes = 64;
/// Number of steps that the planner of a reshard visits before it falls back to
/// reduce, gather, slice.
inline constexpr int64_t maxReshardSteps = 50'000;
/// Largest product of pipeline stages and interleave; each has a range of
/// layers.
inline constexpr int64_t maxVirtualStages = 4096;
/// Longest time of a layer, a stage or a transfer, and of a whole pipeline, in
/// ps: 6.7 and 13.3 days. Largest memory of all layers, in bytes.
inline constexpr int64_t maxStageTimePs = int64_t(1) << 59;
inline constexpr int64_t maxPipelineTimePs = int64_t(1) << 60;
inline constexpr int64_t maxPipelineBytes = int64_t(1) << 60;
/// Number of choices that one search for a split into stages visits before it
/// gives up.
inline constexpr int64_t maxStageSearch = 200'000;
/// Largest number of tasks of a simulated schedule, and its longest time in ps.
inline constexpr int64_t maxScheduledTasks = int64_t(1) << 24;
inline constexpr int64_t maxScheduledTimePs = int64_t(1) << 61;
/// Largest number of tasks in a written timeline: some 150 MB of text.
inline constexpr size_t maxTracedTasks = 1'000'000;
/// Largest number of requests of a simulation.
inline constexpr int64_t maxSimulatedRequests = 1'000'000;
/// Largest number of steps of a simulation, which takes some ten seconds then.
inline constexpr int64_t maxSimulatedSteps = 20'000'000;
/// Largest number of devices of a machine, and largest product of the sizes of
/// a mesh.
inline constexpr int64_t maxDevices = int64_t(1) << 30;
/// Largest number of devices of a plan whose groups are listed one by one.
inline constexpr int64_t maxListedDevices = 4096;
/// Largest header of a safetensors file in bytes, the limit of the reference
/// library.
inline constexpr uint64_t maxSafetensorsHeader = 100'000'000;
/// Largest number of tensors of a model that are compared with a checkpoint.
inline constexpr size_t maxComparedTensors = 10'000'000;
/// Largest number of lines that `--list-tensors` prints.
inline constexpr uint64_t maxListedTensors = 100'000'000;
/// Largest number of characters of a pattern for names of modules, of states of
/// its automaton, and of steps of all patterns of a config together.
inline constexpr size_t maxPatternLength = 1000;
inline constexpr size_t maxPatternStates = 10'000;
inline constexpr uint64_t maxPatternSteps = 100'000'000;
/// Largest number of module groups with different quantisation in a config.
inline constexpr size_t maxQuantizationSchemes = 1000;
/// Expert placement: largest number of experts of a layer, and of slots on all
/// ranks.
inline constexpr int64_t maxPlacedExperts = 16'384;
inline constexpr int64_t maxPlacedSlots = 65'536;
/// Largest number of experts of a token, and of expert groups, for which nodes
/// per token are counted.
inline constexpr int64_t maxNodeChoices = 256;
/// Largest number of experts in a matrix of joint routing, and of nodes of a
/// placement with a trace.
inline constexpr int64_t maxCoactivatedExperts = 2048;
inline constexpr int64_t maxTracedNodes = 4096;
/// Largest number of records of a routing trace, and of experts in one record.
inline constexpr size_t maxTraceRecords = 4'000'000;
inline constexpr size_t maxRoutedExperts = 64;
/// Largest number of steps of the search for the placement of one layer.
inline constexpr int64_t maxPlacementSteps = 20'000'000;
/// Largest number of numbers in a load profile, and of tokens that a synthetic
/// one draws.
inline constexpr int64_t maxLoadNumbers = 10'000'000;
inline constexpr int64_t maxDrawnTokens = 100'000'000;

/// Largest number of columns of a table, of cells in all its rows, and of bytes
/// in one cell.
inline constexpr size_t maxTableColumns = 1000;
inline constexpr size_t maxTableCells = 16'000'000;
inline constexpr size_t maxCellBytes = size_t(64) << 10;

/// Largest number of files in a bundle, of its bytes packed and unpacked, and
/// largest ratio of unpacked to packed bytes for one file. Text packs by a
/// factor of 20.
inline constexpr size_t maxBundleFiles = 256;
inline constexpr uint64_t maxBundleBytes = uint64_t(64) << 20;
inline constexpr uint64_t maxUnpackedBytes = uint64_t(256) << 20;
inline constexpr uint64_t maxPackingRatio = 200;

/// Largest number of rows of a sweep, and of lines in its plot, which differ in
/// colour.
inline constexpr int64_t maxSweepRows = 10'000;
inline constexpr size_t maxPlotSeries = 64;

/// Limits of launches: bytes of a text, words of a script, bytes of one word,
/// and depth of scripts inside words of scripts (`bash -c`).
inline constexpr uint64_t maxLaunchBytes = uint64_t(16) << 20;
inline constexpr size_t maxShellWords = 200'000;
inline constexpr size_t maxShellWordBytes = size_t(1) << 20;
inline constexpr unsigned maxNestedScripts = 4;
/// The largest number of values of a YAML text, counted after aliases are
/// replaced.
inline constexpr size_t maxYamlValues = 200'000;

} // namespace autopar::limits

#endif // AUTOPAR_SUPPORT_LIMITS_H
