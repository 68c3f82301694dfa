#pragma once

#include "settings/option.hpp"
#include "settings/settings.hpp"
#include "subsystem/fmu_options.hpp"

namespace concord {

/// The options, each said once, in the order of the help text. They are read in this order: those
/// whose defaults follow from others come after them.
const OptionTable<Settings>& run_options();

/// Of a subsystem: -subsystem_rtol for all, -subsystem_left_rtol for one.
const OptionTable<SubsystemSettings>& subsystem_options();
const OptionTable<FmuOptions>& fmu_options();
const OptionTable<IsolationOptions>& isolation_options();

inline const std::string subsystem_prefix = "subsystem_";

/// "subsystem_left_".
inline std::string prefix_of(const std::string& subsystem) {
  return subsystem_prefix + subsystem + "_";
}

/// Every option with default, unit and help, in the order of the help text.
const std::vector<OptionSpec>& option_table();

}  // namespace concord
