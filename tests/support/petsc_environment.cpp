#include <gtest/gtest.h>

#include "support/petsc.hpp"

namespace {

class PetscEnvironment : public testing::Environment {
 public:
  void SetUp() override { PetscInitializeNoArguments(); }
  void TearDown() override { PetscFinalize(); }
};

[[maybe_unused]] const auto* const environment =
    testing::AddGlobalTestEnvironment(new PetscEnvironment);

}  // namespace
