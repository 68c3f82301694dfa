# Those that take longest are started first, so that none of them is alone at the end; ctest's own record of
# times is not there yet.
set(concord_long_tests restart_checkpoints_Kills restart_checkpoints_Files restart_kill_chains_Chains
  restart_every_method_OtherRanks order_stiff_outputs_Stiff record_compression_Compression fmu_lone_fmu_Run
  example_hybrid_vehicle_Vehicle isolation_isolated_Failed trust_silence_NoneInSilence faults_faults_Hangs
  studies_gradient_Gradient record_running_Running record_split_Same)
set(concord_tests_of_ranks mpi_ranks_TwoMass mpi_ranks_Ring mpi_ranks_RingVariants mpi_ranks_StepControl
  mpi_ranks_RingRecording mpi_ranks_Front restart_every_method_OtherRanks trust_estimates_Ranks networks_paces_Linear)

# One ctest: SCRIPT, or one class of it. It finds the modules in tests/support and runs the program in
# $CONCORD_PROGRAM, in a folder of its own: runs at once that name no results file would write the same one.
function(concord_one_python_test name script class)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/in/${name})
  file(MAKE_DIRECTORY ${folder})
  add_test(NAME ${name} WORKING_DIRECTORY ${folder}
    COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_SOURCE_DIR}/${script} -v ${class})
  if(name IN_LIST concord_long_tests)
    set_tests_properties(${name} PROPERTIES COST 90)
  endif()
  if(name IN_LIST concord_tests_of_ranks)
    set_tests_properties(${name} PROPERTIES ${CONCORD_RANKS_ALONE})
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${CONCORD_TEST_TIMEOUT} ENVIRONMENT
    "${CONCORD_TEST_ENVIRONMENT};CONCORD_PROGRAM=$<TARGET_FILE:concord_program>;PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/support")
endfunction()

# concord_python_test(PREFIX SCRIPT [CLASS...]): one ctest per unittest class in SCRIPT; where none is named one
# for all of them, which starts once: for those that don't take long.
function(concord_python_test prefix script)
  get_filename_component(stem ${script} NAME_WE)
  foreach(class ${ARGN})
    concord_one_python_test(${prefix}_${stem}_${class} ${script} ${class})
  endforeach()
  if(NOT ARGN)
    concord_one_python_test(${prefix}_${stem} ${script} "")
  endif()
endfunction()
