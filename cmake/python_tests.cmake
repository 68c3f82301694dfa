# concord_python_test(PREFIX SCRIPT CLASS...): one ctest per unittest class in SCRIPT, which finds the
# modules in tests/support and runs the program in $CONCORD_PROGRAM, in a folder of its own: runs at once that
# name no results file would write the same one.
function(concord_python_test prefix script)
  get_filename_component(stem ${script} NAME_WE)
  foreach(class ${ARGN})
    set(name ${prefix}_${stem}_${class})
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/in/${name})
    file(MAKE_DIRECTORY ${folder})
    add_test(NAME ${name} WORKING_DIRECTORY ${folder}
      COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_SOURCE_DIR}/${script} -v ${class})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${CONCORD_TEST_TIMEOUT} ENVIRONMENT
      "${CONCORD_TEST_ENVIRONMENT};CONCORD_PROGRAM=$<TARGET_FILE:concord_program>;PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/support")
  endforeach()
endfunction()
