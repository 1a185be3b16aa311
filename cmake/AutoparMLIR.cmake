# Finds MLIR and, by default, makes its archives link without libLLVM.so.
find_program(LLVM_CONFIG NAMES llvm-config-22 llvm-config)
if(LLVM_CONFIG)
  execute_process(COMMAND ${LLVM_CONFIG} --prefix OUTPUT_VARIABLE llvm_prefix
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
find_package(MLIR 22.1 REQUIRED CONFIG HINTS ${llvm_prefix}/lib/cmake/mlir)

set(LLVM_RUNTIME_OUTPUT_INTDIR ${PROJECT_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${PROJECT_BINARY_DIR}/lib)
set(LLVM_BUILD_TOOLS ON)
set(MLIR_BINARY_DIR ${PROJECT_BINARY_DIR})
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(llvm_definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${llvm_definitions})

# Debian's MLIR archives name the shared libLLVM as a dependency. Start-up is
# five times faster when everything is static, so name the archives instead.
if(NOT AUTOPAR_LINK_DYLIB)
  set(LLVM_LINK_LLVM_DYLIB OFF)
  get_property(mlir_libs GLOBAL PROPERTY MLIR_ALL_LIBS)
  foreach(lib IN LISTS mlir_libs)
    if(TARGET ${lib})
      get_target_property(deps ${lib} INTERFACE_LINK_LIBRARIES)
      if(deps)
        list(REMOVE_ITEM deps LLVM)
        list(APPEND deps LLVMSupport LLVMCore LLVMRemarks LLVMTargetParser
             LLVMFrontendOpenMP LLVMBitReader LLVMBitWriter)
        set_target_properties(${lib} PROPERTIES INTERFACE_LINK_LIBRARIES
                                                "${deps}")
      endif()
    endif()
  endforeach()
endif()
