# `cpack -G DEB` in the build folder: a Debian package of the tools and their
# data, without headers and archives.
set(CPACK_PACKAGE_NAME autopar)
set(CPACK_PACKAGE_VENDOR autopar)
set(CPACK_PACKAGE_CONTACT "autopar <autopar@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "what a language model costs on a machine, and why")
set(CPACK_PACKAGE_DESCRIPTION "Splits a transformer over machines, shows the split as readable IR,
and says whether it fits, how fast it is, and why.")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_COMPONENTS_ALL tools)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME autopar)
set(CPACK_DEBIAN_TOOLS_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
# What is downloaded from the hub is by libcurl, which is loaded where it is; so
# are the libraries that write spreadsheets and bundles.
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "libcurl4, libxlsxwriter4, libzip4")
# `autopar sweep --svg` runs gnuplot.
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS gnuplot-nox)
find_program(AUTOPAR_SHLIBDEPS dpkg-shlibdeps)
if(AUTOPAR_SHLIBDEPS)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
else()
  set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "libc6, libzstd1, zlib1g")
endif()
include(CPack)
