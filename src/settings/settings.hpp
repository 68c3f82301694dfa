#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coupling/method.hpp"
#include "network/rank_network.hpp"
#include "support/options.hpp"

namespace concord {

enum class Adapt { none, iteration, predictor, richardson, richardson_modified };

template <>
inline std::span<const WordOf<Adapt>> words_of<Adapt>() {
  static constexpr WordOf<Adapt> words[] = {
      {"none", Adapt::none},
      {"iteration", Adapt::iteration},
      {"predictor", Adapt::predictor},
      {"richardson", Adapt::richardson},
      {"richardson_modified", Adapt::richardson_modified},
  };
  return words;
}

/// What becomes of a run whose own estimate is as large as its signals.
enum class Diverged { fail, warn };

template <>
inline std::span<const WordOf<Diverged>> words_of<Diverged>() {
  static constexpr WordOf<Diverged> words[] = {
      {"fail", Diverged::fail},
      {"warn", Diverged::warn},
  };
  return words;
}

/// What goes into the results file.
struct RecordSettings {
  std::string path;
  bool outputs = true;
  bool inputs = true;
  bool states = true;
  bool polynomials = false;
  bool balance = false;
  std::string pattern;  ///< shell pattern of variable names; empty: all
  int every = 1;

  /// Whether the pattern takes the variable.
  bool takes(const std::string& name) const;
};

/// How a model is simulated: the -cosim_* and -subsystem_* options, resolved.
struct Settings {
  Method method;
  Adapt adapt = Adapt::none;
  Diverged diverged = Diverged::fail;
  double start = 0.0;
  double stop = 1.0;
  double step = 0.0;          ///< fixed, or what macro-steps of unknown size are measured by
  double largest_step = 0.0;  ///< with step control
  double step_min = 0.0;
  std::vector<double> events;        ///< s, ascending
  std::optional<double> time_limit;  ///< seconds of wall time
  RecordSettings record;
  bool progress = false;
  bool monitor = false;
  bool view = false;
  SubsystemSettings defaults;
  SettingsList subsystems;
};

/// Every option with default, unit and help, in the order of the help text.
const std::vector<OptionSpec>& option_table();

/// Reads and checks all options for this model; withheld capabilities are taken out of the model's
/// descriptions. Throws InputError.
Settings read_settings(Model& model);

/// The same without asking whether the subsystems can do what the method needs: `concord check`
/// explains that.
Settings read_settings_for_check(Model& model);

/// -cosim_schedule_weight, from 0 to 1. Throws InputError.
double read_schedule_weight();

/// The method of the -cosim_type, -cosim_hold, ... options alone. Throws InputError.
Method read_method();

}  // namespace concord
