# The binary of every FMU of a whole model: the library itself and the functions of FMI 2 and 3 upon it, as one
# file, so that nothing of this library stands in the way of another version in the same process. It stays
# loaded, since PETSc keeps pointers into it. Libraries that such an FMU carries are beside it in concord/; the
# path is of the kind that counts for what they need in turn (RPATH).
add_library(concord_whole_model MODULE ${CONCORD_WHOLE_FMU_SOURCES} $<TARGET_OBJECTS:concord>)
set(fmu_symbols ${PROJECT_SOURCE_DIR}/cmake/fmu_symbols.map)
set_target_properties(concord_whole_model PROPERTIES OUTPUT_NAME whole_model PREFIX ""
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/concord UNITY_BUILD OFF LINK_DEPENDS ${fmu_symbols}
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/concord" INSTALL_RPATH_USE_LINK_PATH OFF)
target_include_directories(concord_whole_model PRIVATE include src)
get_target_property(concord_libraries concord LINK_LIBRARIES)
target_link_libraries(concord_whole_model PRIVATE ${concord_libraries} MPI::MPI_CXX)
target_link_options(concord_whole_model PRIVATE -Wl,--version-script=${fmu_symbols} -Wl,-Bsymbolic-functions
  -Wl,-z,nodelete -Wl,--disable-new-dtags)
if(NOT CONCORD_SANITIZE)
  target_link_options(concord_whole_model PRIVATE -s)
endif()
add_dependencies(concord_program concord_whole_model)

# Code of others in such an FMU lives in processes of its own, whose program finds this library beside itself.
set(stripped ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/concord/$<TARGET_SONAME_FILE_NAME:concord>)
if(CONCORD_SANITIZE)
  set(strip ${CMAKE_COMMAND} -E copy $<TARGET_FILE:concord> ${stripped})
else()
  set(strip ${CMAKE_STRIP} -o ${stripped} $<TARGET_FILE:concord>)
endif()
add_custom_command(TARGET concord_whole_model POST_BUILD COMMAND ${strip} VERBATIM)
add_dependencies(concord_whole_model concord)
set_target_properties(concord_subsystem_host PROPERTIES BUILD_RPATH_USE_ORIGIN ON BUILD_RPATH "$ORIGIN")
