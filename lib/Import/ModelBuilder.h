//===- ModelBuilder.h - What block builders write IR with -------*- C++ -*-===//
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

namespace autopar::importer {

/// Types, weights and names for the builders of blocks. Weights of a function
/// stand at its head, in the order of the checkpoint.
class ModelBuilder {
public:
  ModelBuilder(mlir::MLIRContext *context, const model::Model &model);

  mlir::ImplicitLocOpBuilder &builder() { return ops; }
  mlir::Type elementType() const { return element; }
  /// Of caches of keys and values.
  mlir::Type cacheFormat() const;

  //===--------------------------------------------------------------------===//
  // Types
  //===--------------------------------------------------------------------===//

  /// The leading dimensions of `x` (all but the last `dropped`), then `dims`.
  mlir::Type like(mlir::Value x, llvm::ArrayRef<int64_t> dims,
                  unsigned dropped = 1);
  NamedExtent symbol(llvm::StringRef name) const;
  /// `[symbols.., dims..]`, of the model's type where none is given.
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
  /// Dimension 1: `query`, `encoder_tokens*4`.
  NamedExtent tokensOf(mlir::Value x);

  //===--------------------------------------------------------------------===//
  // Weights
  //===--------------------------------------------------------------------===//

  /// A weight of the model's type that is stored as `storage` says ("[1*2, 0]",
  /// "" as it is).
  mlir::Value weight(const std::string &name, llvm::ArrayRef<int64_t> shape,
                     const std::string &storage = "",
                     model::WeightRole role = model::WeightRole::other);
  /// The format that the checkpoint has for the weight `name` below `prefix`
  /// (of a layer: "model.layers.3."); null where it is plain.
  const model::Format *formatOf(const std::string &prefix, llvm::StringRef name,
                                model::WeightRole role);
  /// Whether packed experts are stored one by one here, as
  /// `<stem>.<expert>.gate_proj`, ...
  bool splitsExperts(const std::string &stem);
  /// A weight kept in another type than the model's.
  mlir::Value weight(const std::string &name, llvm::ArrayRef<int64_t> shape,
                     mlir::Type element, const std::string &storage = "");
  /// The weight of the model's function that is called `name`, null where there
  /// is none.
  transformer::WeightOp findWeight(llvm::StringRef name);
  /// Stores a quantized table of embeddings, which is the head too, as heads
  /// are.
  void storeAsHead(transformer::WeightOp table);
  /// x times `<stem>.weight`, stored `[out, in]`, plus `<stem>.bias`.
  mlir::Value linear(mlir::Value x, const std::string &stem, int64_t out,
                     bool bias = false, bool transposed = false);

  //===--------------------------------------------------------------------===//
  // Functions
  //===--------------------------------------------------------------------===//

  /// Starts a private function before the model's, which is not inlined; its
  /// weights go to its head.
  /// `prefix` begins the names of a layer in the checkpoint: "model.layers.3.".
  mlir::func::FuncOp beginFunction(llvm::StringRef name, mlir::TypeRange inputs,
                                   std::string prefix = "");
  /// Begins the names of the function being built; empty where it is no layer.
  const std::string &layerPrefix() const { return frames.back().prefix; }
  /// How many functions are being built, each inside the one before.
  size_t depth() const { return frames.size(); }
  /// Those of the function being built, in its order.
  llvm::ArrayRef<QuantizableWeight> quantizableWeights() const {
    return frames.back().quantizable;
  }
  /// Calls another layer's function as a part of the layer being built: these
  /// weights are below its prefix too, and its own go on behind the call.
  void addLayer(mlir::func::CallOp call,
                llvm::ArrayRef<QuantizableWeight> weights);
  void endFunction(mlir::func::FuncOp function, mlir::ValueRange results);
  /// Says, before the model's function, that the checkpoint has what `function`
  /// has.
  void addStored(mlir::func::FuncOp function);
  /// A new input of the function being built that is not a layer.
  mlir::Value addInput(mlir::Type type);
  /// The first input of that type which it has; null where there is none.
  mlir::Value findInput(mlir::Type type);

  /// What enclosing parts rename the beginnings of tensor names to.
  std::string renamed(std::string name) const;
  llvm::SmallVector<const model::JsonValue *> renames;

  /// By the description of the stack.
  std::map<const model::JsonValue *, LayerFunctions> layerFunctions;

  std::optional<Error> error;
  /// Values that steps of the function being built have saved by name.
  llvm::StringMap<mlir::Value> *saved = nullptr;

  const model::Quantization &quantization;
  model::ModelNotes &notes;

private:
  /// The storage of a weight of `shape` in a format, or in the format's
  /// fallback where its rows are no whole blocks.
  transformer::StorageAttr inFormat(transformer::StorageAttr storage,
                                    llvm::ArrayRef<int64_t> shape,
                                    const model::Format &format);
  /// Removes the bias that a format has beside `name`'s weight: the model has
  /// that bias itself.
  void dropStoredBias(llvm::StringRef name);

  struct Frame {
    mlir::func::FuncOp function;
    mlir::OpBuilder::InsertPoint outer;
    /// Of a layer.
    std::string prefix;
    mlir::Operation *lastWeight = nullptr;
    llvm::SmallVector<QuantizableWeight> quantizable;
    bool isLayer() const { return !prefix.empty(); }
  };

  mlir::ImplicitLocOpBuilder ops;
  mlir::Type element;
  llvm::DenseMap<const model::Format *, transformer::FormatAttr> formats;
  llvm::SmallVector<Frame> frames;
  llvm::StringMap<unsigned> functionNames;
};

} // namespace autopar::importer

#endif // AUTOPAR_LIB_IMPORT_MODELBUILDER_H
