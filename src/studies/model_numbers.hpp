#pragma once

#include <map>
#include <optional>
#include <string>

#include "network/model.hpp"

namespace concord {

/// A number that the model gives, and how large what it is of may be.
struct ModelNumber {
  double value = 0.0;
  double nominal = 0.0;    ///< 0: nobody knows
  bool parameter = false;  ///< stays as it is; else where something starts
  bool around = false;     ///< of a system or the model, from which others follow when it is read
};

/// Parameters of the model ("parameters.g"), of systems, of equations and of FMUs, and start
/// values, by "subsystem.name"; those of libraries as far as they are described.
std::map<std::string, ModelNumber> numbers_of(const Model& model);

/// The outputs of subsystems by the names under which users know them: their own, and those that
/// systems give them.
std::map<std::string, std::string> outputs_of(const Model& model);

}  // namespace concord
