//===- StrategyLibrary.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Pipelines/StrategyLibrary.h"

#include "StrategyFile.h"
#include "StrategyMaker.h"
#include "autopar/Cost/Pricer.h"
#include "autopar/Plan/NeutralAxes.h"
#include "autopar/Plan/StrategyKey.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/Support/FileSystem.h"

#include <mutex>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::pipelines;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::runtime;
using namespace mlir;

/// The text that stands for the bytes of a program that was refused.
static constexpr StringLiteral refused = "-";

/// Returns a text that identifies the version of this program in files: the
/// size and time of its executable, as compiler caches use them.
static std::string versionText() {
  std::string path = llvm::sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&versionText));
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status))
    return path;
  return std::to_string(status.getSize()) + " " +
         std::to_string(
             status.getLastModificationTime().time_since_epoch().count());
}

//===----------------------------------------------------------------------===//
// The library of strategies
//===----------------------------------------------------------------------===//

static std::string bytecodeOf(ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  if (failed(writeBytecodeToFile(module, os)))
    llvm_unreachable("no version of bytecode was asked for");
  return bytes;
}

struct StrategyLibrary::State {
  State(ModuleOp module, const Runtime &runtime, const std::string &directory,
        std::shared_ptr<ExpertPlacer> loads)
      : rules{launchingOf(runtime),
              static_cast<int64_t>(runtime.vocabularyMultiple.value),
              std::move(loads)},
        registry(module.getContext()->getDialectRegistry()),
        bytecode(bytecodeOf(module)),
        file(directory, directory.empty() ? "" : describe(module)) {
    idle.push_back(std::make_unique<StrategyMaker>(module, rules));
  }

  /// Returns a text that describes everything on which programs depend besides
  /// their keys.
  std::string describe(ModuleOp module) const {
    std::string text;
    llvm::raw_string_ostream os(text);
    const Launching &launching = rules.launching;
    os << versionText() << " " << launching.mergesSharedInput
       << launching.fusesElementwise << launching.fusesAccumulation
       << launching.loopsExperts << " " << rules.vocabularyMultiple
       << (rules.loads ? " loads" : "") << "\n";
    module.print(os, OpPrintingFlags().useLocalScope());
    return text;
  }

  CompiledProgram *find(const Plan &asked);
  StringRef make(const std::string &key, Plan plan);
  std::unique_ptr<StrategyMaker> takeMaker(const Plan &plan);
  Result<bool> save();

  const StrategyRules rules;
  /// The registry and the module, from which further makers are created.
  const DialectRegistry &registry;
  const std::string bytecode;

  /// Guards the members below against use by several threads at once.
  std::mutex mutex;
  StrategyFile file;
  llvm::StringMap<std::unique_ptr<CompiledProgram>> known;
  /// Makers that no thread uses; the most recently used one is last.
  std::vector<std::unique_ptr<StrategyMaker>> idle;
  size_t made = 0;
};

/// Reads a program from `bytes`, which the file owns. Returns null for a
/// refused strategy.
static std::unique_ptr<CompiledProgram> read(StringRef bytes,
                                             const StrategyRules &rules) {
  std::optional<CompiledProgram> found = CompiledProgram::fromBytes(bytes);
  if (!found)
    return nullptr;
  if (rules.loads)
    found->setLoads(rules.loads);
  return std::make_unique<CompiledProgram>(std::move(*found));
}

/// Takes an idle maker, preferably one that has made a plan on the same axes;
/// creates a maker if none is idle.
std::unique_ptr<StrategyMaker>
StrategyLibrary::State::takeMaker(const Plan &plan) {
  std::unique_lock<std::mutex> lock(mutex);
  if (idle.empty()) {
    lock.unlock();
    return std::make_unique<StrategyMaker>(bytecode, registry, rules);
  }
  auto best = llvm::find_if(
      idle, [&](const auto &maker) { return maker->knows(plan); });
  if (best == idle.end())
    --best;
  std::unique_ptr<StrategyMaker> maker = std::move(*best);
  idle.erase(best);
  return maker;
}

/// Makes a program and keeps it as bytes, which take a tenth of the program's
/// memory.
StringRef StrategyLibrary::State::make(const std::string &key, Plan plan) {
  dropNeutralDegrees(plan);
  dropNeutralAxes(plan);
  std::unique_ptr<StrategyMaker> maker = takeMaker(plan);
  std::unique_ptr<CompiledProgram> compiled = maker->make(plan);
  std::string bytes = compiled ? compiled->toBytes() : refused.str();
  std::lock_guard<std::mutex> lock(mutex);
  idle.push_back(std::move(maker));
  made += compiled != nullptr;
  // Another thread may have made the same program in the meantime.
  if (file.find(key).empty())
    file.add(key, std::move(bytes));
  return file.find(key);
}

/// Returns `plan` with one copy of each expert. The number of copies depends on
/// the layout, not on the program, which allows any number.
static Plan withoutCopies(Plan plan, const StrategyRules &rules) {
  if (rules.loads && plan.expertPlacement)
    plan.expertPlacement->redundant = 1;
  return plan;
}

CompiledProgram *StrategyLibrary::State::find(const Plan &asked) {
  Plan given = withoutCopies(asked, rules);
  std::string key = strategyKeyOf(given);
  StringRef bytes;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto it = known.find(key); it != known.end())
      return it->second.get();
    bytes = file.find(key);
  }
  if (bytes.empty())
    bytes = make(key, given);
  std::unique_ptr<CompiledProgram> program = read(bytes, rules);
  std::lock_guard<std::mutex> lock(mutex);
  return known.try_emplace(key, std::move(program)).first->second.get();
}

Result<bool> StrategyLibrary::State::save() {
  if (!file.isKept())
    return false;
  for (const auto &entry : known)
    if (entry.second && !entry.second->isStored())
      file.add(entry.first(), entry.second->toBytes());
  return file.save();
}

StrategyLibrary::StrategyLibrary(ModuleOp module, const Runtime &runtime,
                                 std::string directory,
                                 std::shared_ptr<ExpertPlacer> loads)
    : state(std::make_unique<State>(module, runtime, directory,
                                    std::move(loads))) {}
StrategyLibrary::~StrategyLibrary() = default;

CompiledProgram *StrategyLibrary::find(const Plan &plan) {
  return state->find(plan);
}

Result<bool> StrategyLibrary::save() { return state->save(); }

size_t StrategyLibrary::madeCount() const { return state->made; }
