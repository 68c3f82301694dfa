#pragma once

#include <optional>
#include <string>
#include <vector>

namespace concord {

/// What a variable of an FMU of a whole model is to its importer. `start` variables are numbers at
/// which something starts and that nobody reads otherwise.
enum class WholeRole { time, input, output, state, parameter, start, error_estimate };

/// A variable of the FMU; its value reference is its position.
struct WholeVariable {
  std::string name;  ///< unique
  WholeRole role = WholeRole::output;
  std::string source;                ///< what the model calls it: "left.x", "parameters.g"
  std::string unit;                  ///< empty: none
  std::optional<double> start = {};  ///< can be given another one until initialisation ends
  bool tunable = false;              ///< a parameter that may be set between communication steps
  bool held = false;                 ///< changes at events only
  bool guessed = false;              ///< the start is where initial equations begin to look
  double nominal = 0.0;              ///< 0: nobody knows
  std::string description = {};
  /// Of an output: the positions of inputs that it depends on at once; none: not known.
  std::optional<std::vector<std::size_t>> depends_on = {};
};

/// What an FMU of a whole model keeps in resources/ for its binary, beside the model's files.
struct WholeInterface {
  std::string name;                  ///< the model's
  std::string identifier;            ///< of the FMU's binary, a name of C
  std::string token;                 ///< GUID, instantiation token
  std::string model;                 ///< its file, in resources/
  std::vector<std::string> changes;  ///< "left.m=2": what --set said at the export
  double start = 0.0, stop = 1.0;    ///< s
  double tolerance = 1e-4;           ///< -cosim_accuracy
  double step = 0.0;                 ///< s, fixed macro-steps; 0: the accuracy decides
  bool keeps_state = false;          ///< snapshots can be taken
  bool derives = false;              ///< of outputs by inputs there are derivatives
  std::vector<WholeVariable> variables;
};

/// The file in resources/ that holds the options, one a line, beside that of the interface
/// (whole_model_file).
inline constexpr const char* whole_options_file = "concord_options";

/// As JSON, and back. Throws InputError, which begins with `place`, for what is none.
std::string as_json(const WholeInterface& interface);
WholeInterface whole_interface_of(const std::string& json, const std::string& place);

}  // namespace concord
