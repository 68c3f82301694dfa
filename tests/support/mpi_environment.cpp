#include <gtest/gtest.h>
#include <mpi.h>

namespace {

class MpiEnvironment : public testing::Environment {
 public:
  void SetUp() override { MPI_Init(nullptr, nullptr); }
  void TearDown() override { MPI_Finalize(); }
};

[[maybe_unused]] const auto* const environment =
    testing::AddGlobalTestEnvironment(new MpiEnvironment);

}  // namespace
