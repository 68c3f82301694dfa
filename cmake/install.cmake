# What `cmake --install` puts where, and the package that find_package(Concord) finds.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Concord)
file(RELATIVE_PATH bin_to_lib /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})

target_compile_features(concord PUBLIC cxx_std_20)
set_target_properties(concord_program PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
set_target_properties(concord_subsystem_host PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}:$ORIGIN")

install(TARGETS concord EXPORT Concord
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS concord_whole_model LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/concord)
install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/concord/$<TARGET_SONAME_FILE_NAME:concord>
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/concord)
install(TARGETS concord_program concord_subsystem_host RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/concord DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY petsc_options examples library DESTINATION ${CMAKE_INSTALL_DATADIR}/concord
  PATTERN "*.sh" EXCLUDE)
# For compilers of other platforms, by hand where Concord finds none.
install(FILES ${PROJECT_BINARY_DIR}/generated/fmu_host.c DESTINATION ${CMAKE_INSTALL_DATADIR}/concord)
install(FILES LICENSE NOTICE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_BINARY_DIR}/own_words/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${PROJECT_BINARY_DIR}/own_words/concord
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)

# From here to the prefix, for what is found where it was moved to.
file(RELATIVE_PATH pkgconfig_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
set(mpi_flags ${MPI_CXX_INCLUDE_DIRS})
list(TRANSFORM mpi_flags PREPEND -I)
list(JOIN mpi_flags " " mpi_flags)
list(JOIN MPI_CXX_LIBRARIES " " mpi_libraries)
configure_file(cmake/concord.pc.in ${PROJECT_BINARY_DIR}/concord.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/concord.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(modulefile_folder ${CMAKE_INSTALL_DATADIR}/concord/modulefiles/concord)
file(RELATIVE_PATH modulefile_to_prefix /prefix/${modulefile_folder} /prefix)
set(python_path "")
if(concord_python_folder)
  set(python_path "prepend-path PYTHONPATH $prefix/${concord_python_folder}")
endif()
configure_file(packaging/modulefile.in ${PROJECT_BINARY_DIR}/modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modulefile DESTINATION ${modulefile_folder}
  RENAME ${PROJECT_VERSION})

install(EXPORT Concord NAMESPACE Concord:: FILE ConcordTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/ConcordConfig.cmake.in
  ${PROJECT_BINARY_DIR}/ConcordConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ConcordConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ConcordConfig.cmake
  ${PROJECT_BINARY_DIR}/ConcordConfigVersion.cmake DESTINATION ${package_folder})
