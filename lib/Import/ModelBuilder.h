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

/// Creates types, weights and names for the functions that build blocks. The
/// weights of a function stand at its beginning, in the order of the
/// checkpoint.
class ModelBuilder {
public:
  ModelBuilder(mlir::MLIRContext *context, const model::Model &model);

  mlir::ImplicitLocOpBuilder &builder() { return ops; }
  mlir::Type elementType() const { return element; }
  /// Returns the element type of KV caches.
  mlir::Type cacheFormat() const;

  //===--------------------------------------------------------------------===//
  // Functions that make types
  //===--------------------------------------------------------------------===//

  /// Returns the type with the leading dimensions of `x` (all but the last
  /// `dropped`), followed by `dims`.
  mlir::Type like(mlir::Value x, llvm::ArrayRef<int64_t> dims,
                  unsigned dropped = 1);
  NamedExtent symbol(llvm::StringRef name) const;
  /// Returns the type `[symbols.., dims..]`, with the model's element type by
  /// default.
  mlir::RankedTensorType tensor(llvm::ArrayRef<NamedExtent> symbols,
                                llvm::ArrayRef<int64_t> dims,
                                mlir::Type element = {}) const;
  /// Returns the type `[batch, tokens, dims..]`.
  mlir::Type tokens(NamedExtent tokens, llvm::ArrayRef<int64_t> dims,
                    mlir::Type element = {});
  /// Returns the type of routed tokens: `[{tokens of x * topK}, width]`.
  mlir::Type routed(mlir::Value x, int64_t topK, int64_t width);
  /// Returns the size of the last dimension.
  int64_t widthOf(mlir::Value x);
  /// Returns the extent of dimension 1, the tokens: `query`,
  /// `encoder_tokens*4`.
  NamedExtent tokensOf(mlir::Value x);

  //===--------------------------------------------------------------------===//
  // Functions that make weights
  //===--------------------------------------------------------------------===//

  /// Adds a weight with the model's element type and returns it. `storage`
  /// ("[1*2, 0]") states how the checkpoint stores it, "" if as it is used.
  mlir::Value weight(const std::string &name, llvm::ArrayRef<int64_t> shape,
                     const std::string &storage = "",
                     model::WeightRole role = model::WeightRole::other);
  /// Returns the quantisation format of the weight `name` below `prefix` (in a
  /// layer: "model.layers.3."); null if it is not quantised.
  const model::Format *formatOf(const std::string &prefix, llvm::StringRef name,
                                model::WeightRole role);
  /// Whether this checkpoint stores packed experts one by one, as
  /// `<stem>.<expert>.gate_proj`, ...
  bool splitsExperts(const std::string &stem);
  /// Adds a weight with another element type than the model's, and returns it.
  mlir::Value weight(const std::string &name, llvm::ArrayRef<int64_t> shape,
                     mlir::Type element, const std::string &storage = "");
  /// Returns the weight `name` of the model's own function; null if there is
  /// none.
  transformer::WeightOp findWeight(llvm::StringRef name);
  /// Changes the format of an embedding table that is also the head to the
  /// format of the head.
  void storeAsHead(transformer::WeightOp table);
  /// Multiplies `x` by `<stem>.weight`, which is stored as `[out, in]`, and
  /// adds `<stem>.bias` if there is a bias.
  mlir::Value linear(mlir::Value x, const std::string &stem, int64_t out,
                     bool bias = false, bool transposed = false);

  //===--------------------------------------------------------------------===//
  // Functions that begin and end functions of the module
  //===--------------------------------------------------------------------===//

  /// Begins a private function before the model's function; weights that are
  /// added from now on belong to it. `prefix` is the prefix of a layer's names
  /// in the checkpoint: "model.layers.3.".
  mlir::func::FuncOp beginFunction(llvm::StringRef name, mlir::TypeRange inputs,
                                   std::string prefix = "");
  /// Returns the name prefix of the current layer; "" outside of layers.
  const std::string &layerPrefix() const { return frames.back().prefix; }
  /// Returns how many functions are being built, nested in each other.
  size_t depth() const { return frames.size(); }
  /// Returns the quantisable weights of the current function, in its order.
  llvm::ArrayRef<QuantizableWeight> quantizableWeights() const {
    return frames.back().quantizable;
  }
  /// Records that `call` runs another layer's function as a part of the current
  /// layer. The checkpoint names of its `weights` have the current layer's
  /// prefix, too, and weights added later follow the call.
  void addLayer(mlir::func::CallOp call,
                llvm::ArrayRef<QuantizableWeight> weights);
  void endFunction(mlir::func::FuncOp function, mlir::ValueRange results);
  /// Adds, before the model's function, an op that states that the checkpoint
  /// has the tensors of `function`.
  void addStored(mlir::func::FuncOp function);
  /// Adds an input to the current function, which must not be a layer.
  mlir::Value addInput(mlir::Type type);
  /// Returns the first input of the current function with that type; null if
  /// there is none.
  mlir::Value findInput(mlir::Type type);

  /// Returns a tensor's name with its beginning replaced as the enclosing parts
  /// of the model state.
  std::string renamed(std::string name) const;
  llvm::SmallVector<const model::JsonValue *> renames;

  /// Functions of layers, by the description of their stack in the family.
  std::map<const model::JsonValue *, LayerFunctions> layerFunctions;

  std::optional<Error> error;
  /// Values that steps of the current function saved, by name.
  llvm::StringMap<mlir::Value> *saved = nullptr;

  const model::Quantization &quantization;
  model::ModelNotes &notes;

private:
  /// Returns the storage of a weight of `shape` in a format, or in the format's
  /// fallback if its rows are not whole blocks.
  transformer::StorageAttr inFormat(transformer::StorageAttr storage,
                                    llvm::ArrayRef<int64_t> shape,
                                    const model::Format &format);
  /// Removes the bias that a format stores with the weight of `name`, because
  /// the model has the bias itself.
  void dropStoredBias(llvm::StringRef name);

  struct Frame {
    mlir::func::FuncOp function;
    mlir::OpBuilder::InsertPoint outer;
    /// The name prefix, if the function is a layer; else "".
    std::string prefix;
    mlir::Operation *lastWeight = nullptr;
    llvm::SmallVector<QuantizableWeight> quantizable;
    bool isLayer() const { return !prefix.empty(); }
  };

  mlir::ImplicitLocOpBuilder ops;
  mlir::Type element;
  llvm::DenseMap<const model::Format *, transformer::FormatAttr> formats;
  /// The functions that are being built, from the outermost to the current one.
  /// References to a prefix stay valid while further functions begin.
  std::deque<Frame> frames;
  llvm::StringMap<unsigned> functionNames;
};

} // namespace autopar::importer

#endif // AUTOPAR_LIB_IMPORT_MODELBUILDER_H
