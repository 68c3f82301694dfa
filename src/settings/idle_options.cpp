#include "settings/idle_options.hpp"

#include "settings/option_table.hpp"

namespace concord {

std::vector<std::string> idle_options(const Settings& settings) {
  std::vector<std::string> idle;
  const auto tell = [&](const std::string& name, const std::string& reason) {
    if (options::has(name)) {
      idle.push_back("-" + name + ": " + reason);
    }
  };
  for (const auto& option : run_options()) {
    if (const std::string* reason = option.idle_because(settings)) {
      tell(option.name(), *reason);
    }
  }
  for (const char* name : {"snes_rtol", "snes_atol", "snes_stol"}) {
    tell(name, "-cosim_rtol and -cosim_atol decide when the coupling has converged");
  }
  return idle;
}

}  // namespace concord
