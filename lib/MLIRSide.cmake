# The right side of the layer table: everything that sees MLIR.
add_subdirectory(Interfaces)
add_subdirectory(Dialect/Transformer)
add_subdirectory(Dialect/Parallel)
add_subdirectory(Import)
add_subdirectory(Analysis)
add_subdirectory(Transforms)
add_subdirectory(Interpreter)
add_subdirectory(Pipelines)

add_autopar_library(InitAll MLIR InitAll.cpp
  LINK autopar::Pipelines MLIRFuncDialect MLIRFuncInlinerExtension
       MLIRTransforms)
add_subdirectory(Session)
