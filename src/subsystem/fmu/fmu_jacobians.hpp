#pragma once

#include <span>
#include <vector>

#include "subsystem/fmu/stepped_fmu.hpp"

namespace concord {

/// f and the partial derivatives of f and g of a co-simulation FMU where it stands, by its
/// directional derivatives. Where it refuses these in the middle of a run, the last ones stay.
class FmuJacobians {
 public:
  explicit FmuJacobians(SteppedFmu& fmu)
      : fmu_(fmu), all_inputs_(fmu.setup().ports(fmu.setup().input_variables)) {}

  /// f_x, f_u, g_x, g_u; false where the FMU has never given them.
  bool find(Linearization& result);

  /// f for these inputs, size n_st.
  bool derivatives(std::span<const Sample> inputs, std::span<double> result);

  /// Outputs y of the inputs that the FMU has become those of the polynomials' first values, as far
  /// as they answer linearly; false where the FMU has never given derivatives.
  bool follow(std::span<const Polynomial> inputs, std::span<double> y);

  void io(Archive& archive) {
    CONCORD_MEMBERS(archive, known_, last_.f_x, last_.f_u, last_.g_x, last_.g_u);
  }

 private:
  bool ask(Linearization& result);

  SteppedFmu& fmu_;
  FmuPorts all_inputs_;
  bool known_ = false;
  Linearization last_;
  std::vector<double> change_, correction_;
};

}  // namespace concord
