# The right side of the layer table: everything that sees MLIR.
set(mlir_headers <mlir/IR/BuiltinOps.h> <mlir/IR/DialectImplementation.h>
  <mlir/IR/OpImplementation.h> <mlir/IR/SymbolTable.h>
  <mlir/Interfaces/CallInterfaces.h> <mlir/Interfaces/FunctionInterfaces.h>
  <mlir/Interfaces/LoopLikeInterface.h>
  <mlir/Interfaces/SideEffectInterfaces.h> <mlir/Pass/PassManager.h>
  <llvm/ADT/StringExtras.h> <llvm/ADT/StringMap.h>)
add_autopar_headers(AutoparMLIRHeaders ${mlir_headers})
add_subdirectory(Interfaces)
add_subdirectory(Dialect/Transformer)
add_subdirectory(Dialect/Training)
add_subdirectory(Dialect/Parallel)
add_autopar_headers(AutoparDialectHeaders ${mlir_headers} <nlohmann/json.hpp>
  ${PROJECT_SOURCE_DIR}/include/autopar/Dialect/Parallel/Parallel.h
  ${PROJECT_SOURCE_DIR}/include/autopar/Dialect/Transformer/Transformer.h)
add_subdirectory(Import)
add_subdirectory(Analysis)
add_subdirectory(ModuleGraph)
add_subdirectory(Transforms)
add_subdirectory(Interpreter)
add_subdirectory(Pipelines)

add_autopar_library(InitAll MLIR InitAll.cpp
  LINK autopar::Pipelines MLIRFuncDialect MLIRTransformUtils MLIRTransforms)
add_subdirectory(Session)
add_subdirectory(Server)
add_subdirectory(Bundle)
