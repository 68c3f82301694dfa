# What `cmake --install` puts where, and the package that find_package(Concord) finds.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Concord)
file(RELATIVE_PATH bin_to_lib /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})

target_compile_features(concord PUBLIC cxx_std_20)
set_target_properties(concord_program concord_subsystem_host PROPERTIES
  INSTALL_RPATH "$ORIGIN/${bin_to_lib}")

install(TARGETS concord EXPORT Concord
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS concord_program concord_subsystem_host RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/concord DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY petsc_options examples DESTINATION ${CMAKE_INSTALL_DATADIR}/concord
  PATTERN "*.sh" EXCLUDE)
install(FILES LICENSE NOTICE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT Concord NAMESPACE Concord:: FILE ConcordTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/ConcordConfig.cmake.in
  ${PROJECT_BINARY_DIR}/ConcordConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ConcordConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ConcordConfig.cmake
  ${PROJECT_BINARY_DIR}/ConcordConfigVersion.cmake DESTINATION ${package_folder})
