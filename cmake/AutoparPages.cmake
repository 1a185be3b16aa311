# What the tools say about themselves, written after they are built: completions
# of shells, and manual pages. They lie in build/share as they are installed.
set(share ${PROJECT_BINARY_DIR}/share)
set(bash ${share}/bash-completion/completions/autopar)
set(zsh ${share}/zsh/vendor-completions/_autopar)
foreach(script ${bash} ${zsh})
  get_filename_component(folder ${script} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
endforeach()
add_custom_command(OUTPUT ${bash} ${zsh}
  COMMAND autopar completion bash > ${bash}
  COMMAND autopar completion zsh > ${zsh}
  DEPENDS autopar COMMENT "Writing completions" VERBATIM)
install(FILES ${bash} DESTINATION share/bash-completion/completions COMPONENT tools)
install(FILES ${zsh} DESTINATION share/zsh/vendor-completions COMPONENT tools)
set(pages ${bash} ${zsh})

find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  set(manual ${share}/man/man1)
  set(script ${PROJECT_SOURCE_DIR}/cmake/manual_pages.py)
  foreach(tool ${AUTOPAR_TOOLS})
    list(APPEND programs $<TARGET_FILE:${tool}>)
  endforeach()
  add_custom_command(OUTPUT ${manual}/autopar.1
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual}
    COMMAND ${Python3_EXECUTABLE} ${script} --version ${PROJECT_VERSION} --output ${manual} ${programs}
    DEPENDS ${AUTOPAR_TOOLS} ${script} COMMENT "Writing manual pages" VERBATIM)
  install(DIRECTORY ${manual}/ DESTINATION share/man/man1 COMPONENT tools)
  list(APPEND pages ${manual}/autopar.1)
endif()
add_custom_target(autopar-pages ALL DEPENDS ${pages})
