//===- ModelBuilder.h - Writes IR for block builders ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_IMPORT_MODELBUILDER_H
#define AUTOPAR_LIB_IMPORT_MODELBUILDER_H

#include "LayerFunctions.h"
#include "autopar/Model/Block.h"
#include "autopar/Model/Model.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <deque>

namespace autopar::importer {

/// Types, weights and names for the builders of blocks. The weights of a
/// function stand at its beginning, in the order of the checkpoint.
class ModelBuilder {
public:
  ModelBuilder(mlir::MLIRContext *context, const model::Model &model);

  mlir::ImplicitLocOpBuilder &builder() { return ops; }
  mlir::Type elementType() const { return element; }
  /// The format of KV caches.
  mlir::Type cacheFormat() const;

  //===--------------------------------------------------------------------===//
  // Types
  //===--------------------------------------------------------------------===//

  /// The leading dimensions of `x` (all but the last `dropped`), then `dims`.
  mlir::Type like(mlir::Value x, llvm::ArrayRef<int64_t> dims,
                  unsigned dropped = 1);
  NamedExtent symbol(llvm::StringRef name) const;
  /// `[symbols.., dims..]`, in the model's type by default.
  mlir::RankedTensorType tensor(llvm::ArrayRef<NamedExtent> symbols,
                                llvm::ArrayRef<int64_t> dims,
                                mlir::Type element = {}) const;
  /// `[batch, tokens, dims..]`.
  mlir::Type tokens(NamedExtent tokens, llvm::ArrayRef<int64_t> dims,
                    mlir::Type element = {});
  /// `[{tokens of x * topK}, width]`.
  mlir::Type routed(mlir::Value x, int64_t topK, int64_t width);
  /// Size of the last dimension.
  int64_t widthOf(mlir::Value x);
  /// The symbols of dimension 1: `query`, `encoder_tokens*4`.
  NamedExtent tokensOf(mlir::Value x);

  //===--------------------------------------------------------------------===//
  // Weights
  //===--------------------------------------------------------------------===//

  /// A weight of the model's type with the given storage ("[1*2, 0]", "" for
  /// unchanged).
  mlir::Value weight(const std::string &name, llvm::ArrayRef<int64_t> shape,
                     const std::string &storage = "",
                     model::WeightRole role = model::WeightRole::other);
  /// The format of the weight `name` below `prefix` in the checkpoint (in a
  /// layer: "model.layers.3."); null for a plain weight.
  const model::Format *formatOf(const std::string &prefix, llvm::StringRef name,
                                model::WeightRole role);
  /// Whether packed experts are stored one by one here, as
  /// `<stem>.<expert>.gate_proj`, ...
  bool splitsExperts(const std::string &stem);
  /// A weight in another type than the model's.
  mlir::Value weight(const std::string &name, llvm::ArrayRef<int64_t> shape,
                     mlir::Type element, const std::string &storage = "");
  /// The weight `name` of the model's function, null if there is none.
  transformer::WeightOp findWeight(llvm::StringRef name);
  /// Stores a quantised table of embeddings that is also the head in the head's
  /// format.
  void storeAsHead(transformer::WeightOp table);
  /// Multiplies x by `<stem>.weight`, stored as `[out, in]`, and adds
  /// `<stem>.bias`.
  mlir::Value linear(mlir::Value x, const std::string &stem, int64_t out,
                     bool bias = false, bool transposed = false);

  //===--------------------------------------------------------------------===//
  // Functions
  //===--------------------------------------------------------------------===//

  /// Begins a private function before the model's, which is not inlined; its
  /// weights go to its beginning. `prefix` is that of a layer's names in the
  /// checkpoint: "model.layers.3.".
  mlir::func::FuncOp beginFunction(llvm::StringRef name, mlir::TypeRange inputs,
                                   std::string prefix = "");
  /// The prefix of names in the current function; empty outside of layers.
  const std::string &layerPrefix() const { return frames.back().prefix; }
  /// Number of nested functions that are being built.
  size_t depth() const { return frames.size(); }
  /// The quantisable weights of the current function, in its order.
  llvm::ArrayRef<QuantizableWeight> quantizableWeights() const {
    return frames.back().quantizable;
  }
  /// Calls another layer's function as a part of the current layer. These
  /// weights get its prefix too, and its own weights follow the call.
  void addLayer(mlir::func::CallOp call,
                llvm::ArrayRef<QuantizableWeight> weights);
  void endFunction(mlir::func::FuncOp function, mlir::ValueRange results);
  /// Records, before the model's function, that the checkpoint has the tensors
  /// of `function`.
  void addStored(mlir::func::FuncOp function);
  /// Adds an input to the current function, which is no layer.
  mlir::Value addInput(mlir::Type type);
  /// The first input of that type; null if there is none.
  mlir::Value findInput(mlir::Type type);

  /// Renames the beginning of a tensor's name, as enclosing parts say.
  std::string renamed(std::string name) const;
  llvm::SmallVector<const model::JsonValue *> renames;

  /// Functions by the description of the stack.
  std::map<const model::JsonValue *, LayerFunctions> layerFunctions;

  std::optional<Error> error;
  /// Values that steps of the current function saved, by name.
  llvm::StringMap<mlir::Value> *saved = nullptr;

  const model::Quantization &quantization;
  model::ModelNotes &notes;

private:
  /// The storage of a weight of `shape` in a format, or in the format's
  /// fallback if its rows are no whole blocks.
  transformer::StorageAttr inFormat(transformer::StorageAttr storage,
                                    llvm::ArrayRef<int64_t> shape,
                                    const model::Format &format);
  /// Removes the bias that a format stores beside `name`'s weight, because the
  /// model has that bias itself.
  void dropStoredBias(llvm::StringRef name);

  struct Frame {
    mlir::func::FuncOp function;
    mlir::OpBuilder::InsertPoint outer;
    /// The prefix of a layer.
    std::string prefix;
    mlir::Operation *lastWeight = nullptr;
    llvm::SmallVector<QuantizableWeight> quantizable;
    bool isLayer() const { return !prefix.empty(); }
  };

  mlir::ImplicitLocOpBuilder ops;
  mlir::Type element;
  llvm::DenseMap<const model::Format *, transformer::FormatAttr> formats;
  /// Functions around the one that is built, which is the last. References to a
  /// prefix stay valid while further functions begin.
  std::deque<Frame> frames;
  llvm::StringMap<unsigned> functionNames;
};

} // namespace autopar::importer

#endif // AUTOPAR_LIB_IMPORT_MODELBUILDER_H
