# `cpack` in a build of the preset `package`: a Debian package of program, library, Python package, manual
# pages, examples. What shared libraries it needs, dpkg-shlibdeps finds.
set(CONCORD_PACKAGE_CONTACT "The Concord developers <concord@example.org>" CACHE STRING
  "Who answers for packages made here")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME concord-cosimulation)  # concord* are Debian's names of other software
set(CPACK_PACKAGE_CONTACT ${CONCORD_PACKAGE_CONTACT})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "parallel implicit co-simulation of coupled models")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Simulates systems made of parts: equations, C++ classes and FMUs (FMI 2
and 3, SSP), each integrated on its own and coupled so that values and
slopes agree, on one or many MPI ranks. PETSc solves the coupling,
SUNDIALS integrates, HDF5 keeps the results. With the C++ library, its
headers, and a Python package.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "openmpi-bin, python3, python3-numpy, python3-h5py, unzip")
string(REGEX MATCH "^libpython[0-9]+[.][0-9]+" python_package "${concord_python_library_name}")
if(python_package) # opened by its name, for subsystems in Python
  string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", ${python_package}")
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-matplotlib, graphviz, gcc, libopenmpi-dev, python3-pandas, python3-scipy, python3-msgpack")
set(CPACK_DEBIAN_PACKAGE_CONFLICTS libconcord-dev)
set(debian_folder ${PROJECT_BINARY_DIR}/debian)
file(WRITE ${debian_folder}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${debian_folder}/triggers)
# What Debian wants of every package, and in which form.
string(TIMESTAMP debian_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(cmake/debian_files.cmake.in ${debian_folder}/files.cmake @ONLY)
set(CPACK_PRE_BUILD_SCRIPTS ${debian_folder}/files.cmake)
include(CPack)
