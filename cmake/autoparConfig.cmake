# find_package(autopar): targets autopar::X, one for each folder of lib/. What a
# program calls is autopar::Session.
include(CMakeFindDependencyMacro)
find_dependency(nlohmann_json 3.11)
find_dependency(Threads)
find_dependency(ZLIB)
include(${CMAKE_CURRENT_LIST_DIR}/AutoparArchives.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/autoparTargets.cmake)
set_property(TARGET autopar::Interfaces APPEND PROPERTY
             INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
set_property(TARGET autopar::Interfaces APPEND PROPERTY
             INTERFACE_INCLUDE_DIRECTORIES ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
