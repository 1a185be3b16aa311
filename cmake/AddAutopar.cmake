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
  if(ARG_MLIR)
    get_property(generated GLOBAL PROPERTY AUTOPAR_GENERATED_HEADERS)
    add_dependencies(${target} ${generated} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY AUTOPAR_LIBRARIES ${target})
endfunction()

# Same flags everywhere, so that inline code of headers has one meaning.
function(autopar_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter
                         -fno-exceptions -funwind-tables -ffp-contract=off)
endfunction()
