//===- Drawing.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Drawing.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Support/Limits.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace autopar;
using namespace autopar::graph;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace mlir;

using Index = ModuleGraph::Index;

/// The number of characters of an attribute that a graph shows.
static constexpr size_t maxAttributeText = 200;

Drawing::Drawing(ModuleOp module, std::vector<LayerRange> stages)
    : module(module), stages(std::move(stages)), state(module) {
  graph.name = module.getName().value_or("").str();
}

//===----------------------------------------------------------------------===//
// Making clusters
//===----------------------------------------------------------------------===//

std::optional<Index> Drawing::stageCluster(Stage stage) {
  if (stages.empty())
    return std::nullopt;
  auto [known, isNew] =
      clusters.try_emplace({nullptr, stage}, graph.clusters.size());
  if (isNew)
    graph.clusters.push_back(
        {ModuleGraph::Cluster::Kind::stage, "stage " + std::to_string(stage),
         rangeText(stages[stage]), std::nullopt, std::nullopt});
  return known->second;
}

Index Drawing::functionCluster(FunctionOpInterface function, Stage stage) {
  std::optional<Index> parent = stageCluster(stage);
  auto [known, isNew] = clusters.try_emplace({function.getOperation(), stage},
                                             graph.clusters.size());
  if (isNew)
    graph.clusters.push_back({ModuleGraph::Cluster::Kind::function,
                              function.getName().str(), "", parent,
                              std::nullopt});
  return known->second;
}

Index Drawing::loopCluster(LoopLikeOpInterface loop, Index parent,
                           Stage stage) {
  auto [known, isNew] =
      clusters.try_emplace({loop.getOperation(), stage}, graph.clusters.size());
  if (isNew) {
    std::optional<APInt> count = loop.getStaticTripCount();
    graph.clusters.push_back(
        {ModuleGraph::Cluster::Kind::loop,
         loop->getNumResults() ? textOf(loop->getResult(0)) : "loop", "",
         parent, count ? std::optional(count->getSExtValue()) : std::nullopt});
  }
  return known->second;
}

//===----------------------------------------------------------------------===//
// Making nodes
//===----------------------------------------------------------------------===//

std::string Drawing::textOf(Value value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  value.printAsOperand(os, state);
  return text;
}

std::string Drawing::textOf(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream os(text);
  attribute.print(os, state);
  if (text.size() > maxAttributeText)
    text = text.substr(0, maxAttributeText) + "...";
  return text;
}

Index Drawing::newNode(ModuleGraph::Node node, Stage stage, Index cluster) {
  node.cluster = cluster;
  graph.nodes.push_back(std::move(node));
  stageOf.push_back(stage);
  return graph.nodes.size() - 1;
}

static ModuleGraph::Node::Kind kindOf(Operation *op) {
  if (isa<HeldOpInterface>(op))
    return ModuleGraph::Node::Kind::held;
  return isa<parallel::ParallelDialect>(op->getDialect())
             ? ModuleGraph::Node::Kind::collective
             : ModuleGraph::Node::Kind::compute;
}

/// Returns the name of the tensor that an op names, or the axes over which a
/// collective runs.
static std::string detailOf(Operation *op) {
  if (auto named = dyn_cast<WorkloadOpInterface>(op))
    if (StringAttr name = named.getTensorName())
      return name.getValue().str();
  std::string axes;
  if (kindOf(op) == ModuleGraph::Node::Kind::collective)
    if (auto list = op->getAttrOfType<ArrayAttr>("axes"))
      for (auto axis : list.getAsRange<StringAttr>())
        axes += (axes.empty() ? "over " : "*") + axis.getValue().str();
  return axes;
}

Index Drawing::node(Operation *op, Stage stage, Index cluster) {
  auto [known, isNew] = nodes.try_emplace({op, stage}, graph.nodes.size());
  if (!isNew)
    return known->second;
  ModuleGraph::Node node;
  node.kind = kindOf(op);
  node.name = op->getNumResults() ? textOf(op->getResult(0)) : "";
  node.op = op->getName().getStringRef().str();
  node.detail = detailOf(op);
  for (NamedAttribute attribute : op->getAttrs())
    if (!attribute.getName().strref().ends_with("SegmentSizes"))
      node.attributes.emplace_back(attribute.getName().str(),
                                   textOf(attribute.getValue()));
  return newNode(std::move(node), stage, cluster);
}

Index Drawing::argument(BlockArgument value, Stage stage, Index cluster) {
  auto [known, isNew] = nodes.try_emplace({value.getAsOpaquePointer(), stage},
                                          graph.nodes.size());
  if (!isNew)
    return known->second;
  ModuleGraph::Node node;
  node.kind = ModuleGraph::Node::Kind::argument;
  node.name = textOf(value);
  return newNode(std::move(node), stage, cluster);
}

Index Drawing::result(OpOperand &use, Stage stage, Index cluster) {
  ModuleGraph::Node node;
  node.kind = ModuleGraph::Node::Kind::result;
  node.name = textOf(use.get());
  return newNode(std::move(node), stage, cluster);
}

//===----------------------------------------------------------------------===//
// Making edges
//===----------------------------------------------------------------------===//

Source Drawing::join() {
  joins.emplace_back();
  return {static_cast<Index>(joins.size() - 1), true};
}

void Drawing::connect(Source from, Index to, Value value) {
  if (from.isJoin)
    joined.push_back({from, to, value});
  else
    addEdge(from.index, to, value);
}

/// Fills in the dimensions, the elements and the open sums of an edge.
static void describe(RankedTensorType type, ModuleGraph::Edge &edge) {
  auto words = [](ArrayRef<StringAttr> axes) {
    std::vector<std::string> list;
    for (StringAttr axis : axes)
      list.push_back(axis.getValue().str());
    return list;
  };
  TensorView view(type);
  for (unsigned i = 0; i < view.rank(); ++i) {
    DimRef dim = view.dim(i);
    std::string rule;
    if (!dim.axes.empty() && dim.rule != defaultRule(dim.extent))
      rule = std::string(nameOf(dim.rule)) +
             (dim.rule == SplitRule::pad ? " " + std::to_string(dim.multiple)
                                         : "");
    edge.dimensions.push_back({view.extentText(i), std::move(rule),
                               words(dim.axes), words(dim.grouped)});
  }
  llvm::raw_string_ostream(edge.elementType) << type.getElementType();
  edge.partial = words(view.partialAxes());
}

void Drawing::addEdge(Index from, Index to, Value value) {
  if (isTooLarge() ||
      !edges.insert({from, to, value.getAsOpaquePointer()}).second)
    return;
  ModuleGraph::Edge edge;
  edge.from = from;
  edge.to = to;
  edge.value = textOf(value);
  if (RankedTensorType type = tensorOf(value.getType()))
    describe(type, edge);
  edge.isCarried = from >= to;
  edge.isTransfer = stageOf[from] != stageOf[to];
  graph.edges.push_back(std::move(edge));
}

bool Drawing::isTooLarge() const {
  return graph.nodes.size() > limits::maxGraphNodes ||
         graph.edges.size() > limits::maxGraphEdges ||
         joined.size() > limits::maxGraphEdges;
}

LogicalResult Drawing::emitTooLarge() {
  return module.emitError()
         << "the module's graph has more than " << limits::maxGraphNodes
         << " nodes or " << limits::maxGraphEdges << " edges, too many to draw";
}

/// A join that several other joins lead to is visited only once for each use.
FailureOr<ModuleGraph> Drawing::finish() {
  for (const Use &use : joined) {
    SmallVector<Source> open = {use.from};
    llvm::DenseSet<Index> seen;
    while (!open.empty() && !isTooLarge()) {
      Source source = open.pop_back_val();
      if (!source.isJoin)
        addEdge(source.index, use.to, use.value);
      else if (seen.insert(source.index).second)
        open.append(joins[source.index].rbegin(), joins[source.index].rend());
    }
  }
  if (isTooLarge())
    return emitTooLarge();
  return std::move(graph);
}
