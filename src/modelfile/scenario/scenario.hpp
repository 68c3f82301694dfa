#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "network/model.hpp"

namespace concord {

/// What a scenario does to a signal or a parameter.
enum class Deed { set, ramp, override_value, offset, freeze, drop, noise };

/// One deed to one target, as it is written.
struct ScenarioAction {
  Deed deed = Deed::set;
  std::string target;            ///< "car.pedal"; may be a pattern
  std::string value{};           ///< an expression; empty: freeze and drop have none
  std::optional<double> at{};    ///< s; none: when `when` becomes true
  std::string when{};            ///< a condition over names as in the results
  bool once = false;             ///< not again where the condition becomes true again
  bool initially = false;        ///< acts at the start, too, where the condition is true there
  std::optional<double> last{};  ///< s, from then on
  std::string until{};           ///< a condition; with neither it lasts to the end
  double every = 0.0;            ///< s between values of noise
  long seed = 0;                 ///< of noise
  bool planned = false;          ///< `set`, when and to what those who watch say
  std::optional<double> least{}, most{};  ///< limits of what is planned; none: any number
  Location location{}, time_location{}, end_location{}, value_location{};

  bool ends() const { return last || !until.empty(); }
};

/// In the order of writing. Throws InputError.
std::vector<ScenarioAction> read_scenario(const std::filesystem::path& path);

/// What -cosim_stream_set lists: names and patterns, "car.pedal=0:1, car.*", with limits or
/// without. Throws InputError.
std::vector<ScenarioAction> planned_actions(const std::string& list);

/// "offset sensor.y by 0.1"
std::string in_words(const ScenarioAction& action);

/// "at t = 30 s for 2 s"
std::string time_in_words(const ScenarioAction& action);

}  // namespace concord
