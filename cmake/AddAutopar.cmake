# add_autopar_library(Name [MLIR] sources... [DEPENDS targets] [LINK libraries])
#
# One library per folder of lib/. Without MLIR it sees no LLVM header and links
# no LLVM archive: that is the left side of the layer table in the README.
function(add_autopar_library name)
  cmake_parse_arguments(ARG "MLIR" "" "DEPENDS;LINK" ${ARGN})
  set(target Autopar${name})
  add_library(${target} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(autopar::${name} ALIAS ${target})
  autopar_compile_options(${target})
  target_link_libraries(${target} PUBLIC ${ARG_LINK})
  if(NOT ARG_MLIR)
    autopar_precompile(${target} AutoparJsonHeaders)
  elseif(TARGET AutoparDialectHeaders)
    autopar_precompile(${target} AutoparDialectHeaders)
  else()
    autopar_precompile(${target} AutoparMLIRHeaders)
  endif()
  if(ARG_MLIR)
    get_property(generated GLOBAL PROPERTY AUTOPAR_GENERATED_HEADERS)
    add_dependencies(${target} ${generated} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY AUTOPAR_LIBRARIES ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:include>)
  install(TARGETS ${target} EXPORT autopar ARCHIVE DESTINATION lib COMPONENT development)
endfunction()

# Same flags everywhere, so that inline code of headers has one meaning.
function(autopar_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter
                         -fno-exceptions -funwind-tables -ffp-contract=off)
endfunction()

# Headers that many files read: nine tenths of the time to compile a pass was
# theirs. They are precompiled once for all targets of the same flags.
option(AUTOPAR_PRECOMPILE "Precompile headers" ON)
function(add_autopar_headers target)
  if(AUTOPAR_PRECOMPILE)
    set(source ${PROJECT_BINARY_DIR}/headers/${target}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "")
    add_library(${target} OBJECT ${source})
    autopar_compile_options(${target})
    # Caches of compilers compare what was compiled.
    if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
      target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    endif()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    get_property(generated GLOBAL PROPERTY AUTOPAR_GENERATED_HEADERS)
    if(generated)
      add_dependencies(${target} ${generated})
    endif()
  endif()
endfunction()
function(autopar_precompile target headers)
  if(TARGET ${headers})
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

# autopar_tablegen(Folder source.td file.inc options...): one generated file,
# included as "autopar/Folder/file.inc". Call autopar_tablegen_target(Folder)
# after the last.
function(autopar_tablegen folder source output)
  set(directory ${PROJECT_BINARY_DIR}/include/autopar/${folder})
  file(MAKE_DIRECTORY ${directory})
  file(GLOB_RECURSE definitions CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/dialects/*.td ${PROJECT_SOURCE_DIR}/include/*.td)
  list(TRANSFORM MLIR_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE includes)
  add_custom_command(
    OUTPUT ${directory}/${output}
    COMMAND ${MLIR_TABLEGEN_EXE} --write-if-changed ${ARGN}
            -I${PROJECT_SOURCE_DIR}/dialects
            -I${PROJECT_SOURCE_DIR}/include
            ${includes} ${source} -o ${directory}/${output}
    DEPENDS ${source} ${definitions} ${MLIR_TABLEGEN_EXE}
    VERBATIM)
  set_property(GLOBAL APPEND PROPERTY AUTOPAR_TABLEGEN_${folder}
               ${directory}/${output})
endfunction()

function(autopar_tablegen_target folder)
  get_property(outputs GLOBAL PROPERTY AUTOPAR_TABLEGEN_${folder})
  string(REPLACE "/" "" name Autopar${folder}IncGen)
  add_custom_target(${name} DEPENDS ${outputs})
  set_property(GLOBAL APPEND PROPERTY AUTOPAR_GENERATED_HEADERS ${name})
endfunction()

# Half of a tool's start-up was symbols of shared libraries: the C++ library is
# linked in, and what nothing calls is left out. With LLVM's shared library, or
# a sanitizer, there must be one C++ library for all.
include(CheckLinkerFlag)
check_linker_flag(CXX -static-libstdc++ AUTOPAR_HAS_STATIC_LIBSTDCXX)
check_linker_flag(CXX -Wl,--as-needed,--gc-sections AUTOPAR_HAS_GC_SECTIONS)
# Addresses that the loader adds the program's own to, as a bitmap: half of the
# loader's work. It takes glibc 2.36 to run.
include(CheckCXXSourceRuns)
set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,-z,pack-relative-relocs)
check_cxx_source_runs("int main() {}" AUTOPAR_HAS_PACKED_RELOCATIONS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
function(autopar_link_options target)
  if(AUTOPAR_HAS_GC_SECTIONS)
    target_link_options(${target} PRIVATE -Wl,--as-needed,--gc-sections)
  endif()
  if(AUTOPAR_HAS_PACKED_RELOCATIONS)
    target_link_options(${target} PRIVATE -Wl,-z,pack-relative-relocs)
  endif()
  if(AUTOPAR_HAS_STATIC_LIBSTDCXX AND NOT AUTOPAR_LINK_DYLIB
     AND NOT AUTOPAR_ENABLE_FUZZERS)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

# add_autopar_tool(name sources... LINK libraries)
function(add_autopar_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  autopar_compile_options(${name})
  autopar_link_options(${name})
  autopar_precompile(${name} AutoparDialectHeaders)
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  get_property(generated GLOBAL PROPERTY AUTOPAR_GENERATED_HEADERS)
  if(generated)
    add_dependencies(${name} ${generated})
  endif()
  set_property(GLOBAL APPEND PROPERTY AUTOPAR_TOOLS ${name})
  install(TARGETS ${name} RUNTIME DESTINATION bin COMPONENT tools)
endfunction()
