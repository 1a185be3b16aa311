//===- UnplacedBlock.cpp - Tensors whose place is not known ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::transformer;
using namespace mlir;

namespace {

/// Builds the tensors of a draft that no other block uses: matrices as matmuls
/// of the stream, so that their bytes and FLOPs count, and all others as
/// weights that nothing reads. The results are not used: the stream leaves the
/// block unchanged.
///
/// A matmul needs an input as wide as one of the matrix's sides. `values` has
/// one value for each width that exists so far, at first only the stream. A
/// matrix `[out, in]` is multiplied with the value of width `in` or, if there
/// is none, transposed with that of width `out`, which takes as many FLOPs.
/// Example: with a stream of width 64 and matrices `[96, 8]` and `[8, 64]` the
/// second is multiplied first, and its result, of width 8, is the input of the
/// first.
class UnplacedTensors {
public:
  UnplacedTensors(ModelBuilder &model, Value x) : model(model) {
    values[model.widthOf(x)] = x;
  }

  void addMatrix(const std::string &name, int64_t out, int64_t in) {
    matrices.push_back({name, out, in});
  }

  /// Multiplies every matrix for which there is an input, until no further one
  /// is found.
  void multiply() {
    for (bool goesOn = true; goesOn;) {
      goesOn = false;
      std::vector<Matrix> left;
      for (const Matrix &matrix : matrices) {
        bool done = multiply(matrix);
        goesOn |= done;
        if (!done)
          left.push_back(matrix);
      }
      matrices = std::move(left);
    }
    for (const Matrix &matrix : matrices)
      model.weight(matrix.name, {matrix.out, matrix.in});
  }

private:
  struct Matrix {
    std::string name;
    int64_t out, in;
  };

  bool multiply(const Matrix &matrix) {
    auto straight = values.find(matrix.in), turned = values.find(matrix.out);
    bool isStraight = straight != values.end();
    if (!isStraight && turned == values.end())
      return false;
    Value x = isStraight ? straight->second : turned->second;
    int64_t width = isStraight ? matrix.out : matrix.in;
    Value w =
        model.weight(matrix.name, {model.widthOf(x), width},
                     isStraight ? "[1, 0]" : "[0, 1]", WeightRole::product);
    Value y = LinearOp::create(model.builder(), model.like(x, {width}), x, w,
                               Value());
    values.emplace(width, y);
    return true;
  }

  ModelBuilder &model;
  std::map<int64_t, Value> values;
  std::vector<Matrix> matrices;
};

} // namespace

/// Returns the tensor names for which `name` stands: a "#" stands for the
/// numbers below `count`.
static std::vector<std::string> expand(const std::string &name, int64_t count) {
  SmallVector<StringRef> parts;
  StringRef(name).split(parts, '#');
  std::vector<std::string> names;
  for (int64_t i = 0; i < (parts.size() > 1 ? count : 1); ++i)
    names.push_back(llvm::join(parts, std::to_string(i)));
  return names;
}

Value autopar::importer::buildUnplaced(ModelBuilder &model,
                                       autopar::model::Block &block, Value x) {
  block.mayHave({"element", "count", "multiplied"});
  bool hasElement = block.has("element"), keepsAll = block.flag("kept");
  Type element = readElement(model, block);
  int64_t count = block.integer("count", 1);
  int64_t multiplied = block.integer("multiplied", count);
  UnplacedTensors tensors(model, x);
  for (const auto &[pattern, shape] : block.tensors("tensors")) {
    int64_t number = 0;
    for (const std::string &name : expand(pattern, count)) {
      bool isProduct = !keepsAll && shape.size() == 2 && !hasElement &&
                       number++ < multiplied;
      if (isProduct)
        tensors.addMatrix(name, shape[0], shape[1]);
      else
        model.weight(name, shape, element);
    }
  }
  tensors.multiply();
  return x;
}
