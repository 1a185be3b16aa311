//===- Interfaces.td - What passes may ask of any op ------*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_INTERFACES_TD
#define AUTOPAR_INTERFACES_INTERFACES_TD

include "mlir/IR/OpBase.td"

def DeviceMeshOpInterface : OpInterface<"DeviceMeshOpInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    The op of a module that names the mesh axes and gives them sizes. A module
    has at most one.
  }];
  let methods = [
    InterfaceMethod<"Names of the axes, outermost first.",
                    "::llvm::ArrayRef<::mlir::Attribute>", "getAxisNames">,
    InterfaceMethod<"Size of the axis `name`: nothing where there is no such "
                    "axis, 0 where its size is not given.",
                    "::std::optional<int64_t>", "getAxisSize",
                    (ins "::llvm::StringRef":$name)>,
    InterfaceMethod<"What a user calls the product of `axes`: degrees, and an "
                    "axis that is no part of a degree of its own name (`tpi` "
                    "of `tp`).",
                    "::llvm::SmallVector<::llvm::StringRef>", "getNamesOf",
                    (ins "::llvm::ArrayRef<::mlir::StringAttr>":$axes)>,
  ];
}

def SymbolBindingOpInterface : OpInterface<"SymbolBindingOpInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    The op of a module that gives values to the symbols of dimensions. A module
    has at most one.
  }];
  let methods = [
    InterfaceMethod<"Names that tensor encodings may use.",
                    "::llvm::ArrayRef<::llvm::StringRef>", "getSymbols">,
    InterfaceMethod<"The step that the symbols describe.",
                    "::autopar::program::Workload", "getWorkload">,
  ];
}

def StoredFunctionOpInterface : OpInterface<"StoredFunctionOpInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    An op of a module that names one of its functions: the checkpoint has that
    function's weights, and a step does not run it.
  }];
  let methods = [
    InterfaceMethod<"The function; the op was verified.",
                    "::mlir::FunctionOpInterface", "getStoredFunction">,
  ];
}

def StepSectionsOpInterface : OpInterface<"StepSectionsOpInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    The op of a module that says which functions a step runs after the public
    one. A module has at most one.
  }];
  let methods = [
    InterfaceMethod<"Each function and what it is of the step, in the order in "
                    "which they run; the op was verified.",
                    "::llvm::SmallVector<::std::pair<::mlir::FunctionOpInterface, "
                    "::autopar::program::Section>, 2>", "getSections">,
  ];
}

def ShardingOpInterface : OpInterface<"ShardingOpInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    How the dimensions of an op's operands and results belong together, as in
    an einsum: dimensions of one factor have one extent and one split. From
    this alone follow verification, propagation and partial sums.
  }];
  let methods = [
    InterfaceMethod<"The factors of this op.", "::autopar::ShardingFactors",
                    "getShardingFactors">,
    InterfaceMethod<"The factor that tensor parallelism splits first (heads of "
                    "an attention, width of an activation, vocabulary), where "
                    "this op has one. Other ops follow by propagation.",
                    "::std::optional<::autopar::TensorParallelFactor>",
                    "getTensorParallelFactor", (ins), "",
                    "return std::nullopt;">,
    InterfaceMethod<"Replaces an affine op by its linear part followed by the "
                    "addition of its bias, so that a reduction fits between. "
                    "Returns the linear part; null where the op has no bias.",
                    "::mlir::Operation *", "detachBias",
                    (ins "::mlir::OpBuilder &":$builder), "",
                    "return nullptr;">,
    InterfaceMethod<"Makes the op take sums of elements from another one before "
                    "it, so that a reduction fits between, instead of needing "
                    "all elements to sum them itself. Returns that op; null "
                    "where this one sums nothing.",
                    "::mlir::Operation *", "detachSums",
                    (ins "::mlir::OpBuilder &":$builder), "",
                    "return nullptr;">,
  ];
  let verify = [{ return ::autopar::verifySharding($_op); }];
}

def HeldOpInterface : OpInterface<"HeldOpInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    An op whose results devices have before a step begins: weights, caches and
    states. They take any layout that is asked for, at no cost in a step.
  }];
}

def InputGradientOpInterface : OpInterface<"InputGradientOpInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    An op whose result is the gradient of what a product with weights has as its
    input. Gradients of one input that are added up are one product, of operands
    side by side.
  }];
  let methods = [
    InterfaceMethod<"Whether this one's is, or that of the weight.",
                    "bool", "isOfInput">,
  ];
  let extraClassOf = "return $_op.isOfInput();";
}

def MicrobatchesOpInterface : OpInterface<"MicrobatchesOpInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    An op of a module that divides the batch of its step into equal parts, which
    go through it one after the other. A module has one at most.
  }];
  let methods = [
    InterfaceMethod<"The number of parts.", "uint64_t", "getMicrobatches">,
    InterfaceMethod<"What of the plan nobody has chosen.", "::mlir::ArrayAttr",
                    "getAssumed">,
  ];
}

def WorkloadOpInterface : OpInterface<"WorkloadOpInterface"> {
  let cppNamespace = "::autopar";
  let description = [{
    What an op costs, with neither sizes nor seconds: kernels, collectives and
    resident tensors whose dimensions are products of numbers, symbols and
    splits.
  }];
  let methods = [
    InterfaceMethod<"Adds this op's records to the program being built.",
                    "void", "buildWorkload",
                    (ins "::autopar::WorkloadBuilder &":$builder)>,
    InterfaceMethod<"What the checkpoint calls the tensor that this op names, "
                    "below its layer; null where it names none. Equal ops of "
                    "one name are one tensor.",
                    "::mlir::StringAttr", "getTensorName", (ins), "",
                    "return {};">,
    InterfaceMethod<"Emits an error unless this op may have the same tensor "
                    "name as `other`.",
                    "::mlir::LogicalResult", "verifyNamesake",
                    (ins "::mlir::Operation *":$other), "",
                    "return ::mlir::success();">,
  ];
}

/// Verifies the encodings of an op's operands and results against the module:
/// axes exist in its mesh, symbols in its workload, splits obey their rules.
def EncodingsMatchModule : NativeOpTrait<"EncodingsMatchModule"> {
  let cppNamespace = "::autopar";
}

#endif // AUTOPAR_INTERFACES_INTERFACES_TD
