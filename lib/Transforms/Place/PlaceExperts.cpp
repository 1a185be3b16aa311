//===- PlaceExperts.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "../Bind/MeshReader.h"
#include "../Split/Seeds.h"
#include "autopar/Analysis/ExpertLayers.h"
#include "autopar/Cost/ExpertNodes.h"
#include "autopar/Placement/LoadSource.h"
#include "autopar/Transforms/Price/Estimate.h"

#include "mlir/IR/AsmState.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_PLACEEXPERTSPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::parallel;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace mlir;

/// Returns the layout of the devices that share the experts of each layer.
static FailureOr<GroupLayout> layoutOf(ModuleOp module,
                                       ArrayRef<StringAttr> axes) {
  Plan plan;
  for (MeshOp mesh : module.getOps<MeshOp>())
    plan = readMesh(mesh);
  GroupLayout layout;
  for (StringAttr axis : axes) {
    std::optional<int64_t> stride = plan.strideOf(axis.getValue());
    std::optional<int64_t> size = plan.axis(axis.getValue())->size;
    if (!size || !stride)
      return module.emitError()
             << "experts are placed on devices: axis '" << axis.getValue()
             << "' of the mesh, or one inside of it, has no size";
    layout.push_back({*stride, *size});
  }
  return layout;
}

/// Returns a table of `rows`, which is printed at the end of the module's text.
template <typename T>
static ElementsAttr tableOf(StringRef name, Type element,
                            const std::vector<std::vector<T>> &rows) {
  std::vector<T> all;
  for (const std::vector<T> &row : rows)
    llvm::append_range(all, row);
  auto type = RankedTensorType::get({static_cast<int64_t>(rows.size()),
                                     static_cast<int64_t>(rows.front().size())},
                                    element);
  return DenseResourceElementsAttr::get(
      type, name,
      HeapAsmResourceBlob::allocateAndCopyInferAlign(ArrayRef<T>(all)));
}

namespace {

struct PlaceExpertsPass
    : autopar::transforms::impl::PlaceExpertsPassBase<PlaceExpertsPass> {
  using Base::Base;

  void runOnModule() override {
    if (failed(place(getOperation())))
      signalPassFailure();
  }

  LogicalResult place(ModuleOp module) {
    FailureOr<SmallVector<StringAttr>> over =
        findAxes(module, orElse(axes, {"ep"}), "--shard-ep");
    FailureOr<ExpertLayers> layers = findExpertLayers(module);
    if (failed(over) || failed(layers) || failed(verifyOptions(module)))
      return failure();
    if (layers->all.empty())
      return module.emitError("the model has no routed experts to place");
    for (ExpertPlacementOp old :
         llvm::make_early_inc_range(module.getOps<ExpertPlacementOp>()))
      old.erase();
    ExpertPlacementOp op = createOp(module, *over, layers->all.front());
    if (load.empty() && trace.empty())
      return success();
    Result<ExpertLoads> sources = readSources({load, trace}, layers->shape());
    if (!sources)
      return emitError(module, sources.error());
    FailureOr<PlacementSpace> space =
        spaceOf(module, *over, layers->all.front());
    if (failed(space))
      return failure();
    Result<ExpertPlacement> placement = placeExperts(
        sources->loads, *space, op.getOptions(), sources->traceOrNull());
    if (!placement)
      return emitError(module, placement.error());
    setTables(op, sources->loads, *placement);
    return success();
  }

  LogicalResult verifyOptions(ModuleOp module) {
    if (!parsePlacementPolicy(policy.getValue()))
      return module.emitError() << "unknown policy '" << policy.getValue()
                                << "', expected " << policyChoices();
    bool isBalanced = policy == nameOf(PlacementPolicy::balanced);
    if (isBalanced && load.empty() && trace.empty())
      return module.emitError(
          "experts are balanced by their loads: give load or trace");
    if (groupsInNode && !isBalanced)
      return module.emitError() << "policy " << policy.getValue()
                                << " does not keep groups of experts in nodes";
    return success();
  }

  ExpertPlacementOp createOp(ModuleOp module, ArrayRef<StringAttr> over,
                             const ExpertLayer &layer) {
    OpBuilder builder(module.getContext());
    builder.setInsertionPointAfter(findMesh(module));
    return ExpertPlacementOp::create(
        builder, module.getLoc(),
        builder.getArrayAttr(llvm::to_vector_of<Attribute>(over)),
        *parsePlacementPolicy(policy.getValue()), /*layers=*/nullptr,
        /*slots=*/nullptr,
        /*loads=*/nullptr, /*node_sends=*/nullptr, layer.slots - layer.experts,
        groupsInNode ? layer.groups : 1, groupsInNode,
        APFloat(tolerance.getValue()), load.getValue(), trace.getValue());
  }

  /// Returns the ranks, slots and nodes for the placement. A policy that does
  /// not depend on nodes may place experts on devices that are not neighbours.
  FailureOr<PlacementSpace> spaceOf(ModuleOp module, ArrayRef<StringAttr> over,
                                    const ExpertLayer &layer) {
    FailureOr<GroupLayout> layout = layoutOf(module, over);
    if (failed(layout))
      return failure();
    PlacementSpace space;
    space.experts = layer.experts;
    space.groups = groupsInNode ? layer.groups : 1;
    space.ranks = sizeOf(*layout);
    if (layer.slots % space.ranks)
      return module.emitError()
             << layer.slots << " slots of experts do not lie "
             << "on " << space.ranks << " devices";
    space.slotsPerRank = layer.slots / space.ranks;
    Target target = targetOf(module);
    Result<Machine> machine =
        HardwareLibrary(target.overrides).machine(target.hardwareName(), 1);
    if (!machine)
      return emitError(module, machine.error());
    int64_t perNode = machine->pools.front().devicesPerNode;
    std::optional<int64_t> nodes = nodesOf(*layout, perNode);
    if (!nodes && (groupsInNode || !trace.empty()))
      return module.emitError()
             << "the " << space.ranks << " devices that share experts do not "
             << "fill nodes of " << perNode
             << " one after the other: sends between nodes are not counted";
    space.nodes = nodes.value_or(1);
    return space;
  }

  static void setTables(ExpertPlacementOp op, const LoadProfile &profile,
                        const ExpertPlacement &placement) {
    std::vector<int64_t> numbers;
    std::vector<std::vector<int32_t>> slots;
    std::vector<std::vector<double>> loads, sends;
    bool traced = false;
    for (auto [layer, tokens] :
         llvm::zip_equal(placement.layers, profile.layers)) {
      numbers.push_back(layer.layer);
      slots.push_back(layer.slots);
      loads.push_back(tokens.tokens);
      NodeTraffic now = layer.traffic.value_or(NodeTraffic()),
                  before = layer.blockTraffic.value_or(NodeTraffic());
      sends.push_back({now.tokens, now.sends, before.sends});
      traced |= layer.traffic.has_value();
    }
    Builder builder(op.getContext());
    op.setLayers(numbers);
    op.setSlotsAttr(tableOf("expert_slots", builder.getI32Type(), slots));
    op.setLoadsAttr(tableOf("expert_loads", builder.getF64Type(), loads));
    if (traced)
      op.setNodeSendsAttr(tableOf("expert_sends", builder.getF64Type(), sends));
  }
};

} // namespace
