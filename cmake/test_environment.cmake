# For every test that starts MPI programs: as root, with more ranks than cores, without Open MPI's
# remarks on containers, without binding every run to the same first cores, and without ranks that keep
# a core busy while they wait, which Open MPI stops only where one job alone has more ranks than cores. The
# Pictures and reports are there where the Python package is, which sanitizers keep out. The
# libraries of test FMUs are compiled once for all tests; exported FMUs are compiled quickly, as none is for
# speed. With sanitizers, leaks are not looked for: Open MPI
# and its parts leave many.
#   set_tests_properties(name PROPERTIES ENVIRONMENT "${CONCORD_TEST_ENVIRONMENT}" PROCESSORS 2)
set(CONCORD_TEST_ENVIRONMENT
  CONCORD_HAS_PYTHON=$<TARGET_EXISTS:concord_python>
  OMPI_ALLOW_RUN_AS_ROOT=1
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_btl_vader_single_copy_mechanism=none
  OMP_NUM_THREADS=1
  CFLAGS=-O0
  CONCORD_FMU_LIBRARIES=${PROJECT_BINARY_DIR}/tests/fmu_libraries
  ASAN_OPTIONS=detect_leaks=0:allow_user_segv_handler=1:verify_asan_link_order=0)

# For tests that are little but ranks of one run that wait for each other: beside other tests each exchange
# takes a share of a core's time, a hundred times what it takes alone.
set(CONCORD_RANKS_ALONE PROCESSORS 4 COST 100)

# Seconds after which ctest takes a test for one that hangs: the longest take a hundredth of it, on a quiet
# machine. tests/run.sh has the same for those that set none.
set(CONCORD_TEST_TIMEOUT 6000)
