#include <gtest/gtest.h>
#include <petscsys.h>

namespace {

class PetscEnvironment : public testing::Environment {
 public:
  void SetUp() override { ASSERT_EQ(PetscInitialize(nullptr, nullptr, nullptr, nullptr), 0); }
  void TearDown() override { EXPECT_EQ(PetscFinalize(), 0); }
};

[[maybe_unused]] const auto* const environment =
    testing::AddGlobalTestEnvironment(new PetscEnvironment);

}  // namespace
