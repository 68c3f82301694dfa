#include "concord/program.hpp"

#include <climits>

#include "cli/commands.hpp"
#include "cli/measured_efforts.hpp"
#include "cli/session.hpp"
#include "cli/signal_weights_option.hpp"
#include "cli/start_time.hpp"
#include "concord/errors.hpp"
#include "network/model.hpp"
#include "support/foreign_call.hpp"
#include "support/options.hpp"
#include "support/petsc.hpp"

namespace concord {

std::int64_t ProgramOptions::integer(const std::string& name, std::int64_t fallback) const {
  const auto value = options::integer(name, INT_MIN, INT_MAX);
  return value ? *value : fallback;
}

double ProgramOptions::real(const std::string& name, double fallback) const {
  return options::real(name).value_or(fallback);
}

std::string ProgramOptions::text(const std::string& name, const std::string& fallback) const {
  return options::text(name).value_or(fallback);
}

bool foreign_code_has_crashed() {
  if (!foreign_code_has_ended()) return false;
  foreign_end_is_told();
  return true;
}

int run_program(int argc, char** argv,
                const std::function<ModelBuilder(const ProgramOptions&)>& build) {
  const std::string command_line = joined(std::vector<std::string>(argv, argv + argc), " ");
  return in_session(argc, argv, [&] {
    choose_start_time();
    Model model = std::move(*build(ProgramOptions()).source()({}));
    take_measured_efforts(model, PETSC_COMM_WORLD);
    take_signal_weights(model, PETSC_COMM_WORLD);
    return run_command(std::move(model), command_line);
  });
}

}  // namespace concord
