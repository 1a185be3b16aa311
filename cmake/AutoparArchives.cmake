# Finds MLIR and, by default, makes its archives link without libLLVM.so.
find_program(LLVM_CONFIG NAMES llvm-config-22 llvm-config)
if(LLVM_CONFIG)
  execute_process(COMMAND ${LLVM_CONFIG} --prefix OUTPUT_VARIABLE llvm_prefix
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
find_package(MLIR 22.1 REQUIRED CONFIG HINTS ${llvm_prefix}/lib/cmake/mlir)

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
