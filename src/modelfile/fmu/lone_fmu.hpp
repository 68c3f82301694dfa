#pragma once

#include <filesystem>
#include <vector>

#include "network/model.hpp"
#include "subsystem/fmu/fmu.hpp"

namespace concord {

/// One FMU to be simulated alone.
struct LoneFmu {
  std::filesystem::path path;
  std::vector<FmuValue> start_values;  ///< of parameters and of variables with a start value
  std::filesystem::path input_file;    ///< CSV: inputs over time; may be empty
};

bool is_fmu(const std::filesystem::path& path);

/// The model whose only subsystem is the FMU, over its default experiment (0 to 1 s where it has
/// none). Columns of the input file feed the inputs of their names: linear between rows, or held
/// where the input is discrete. Throws InputError.
Model read_lone_fmu(const LoneFmu& fmu);

/// The FMU's preferred size of communication steps; 0 without one.
double preferred_step(const Model& model);

}  // namespace concord
