#include "concord/program.hpp"

#include <climits>

#include "cli/commands.hpp"
#include "cli/measured_efforts.hpp"
#include "cli/session.hpp"
#include "concord/errors.hpp"
#include "subsystem/native/watched_model.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "support/options.hpp"

namespace concord {
namespace {

SubsystemEntry entry_of(const ModelBuilder::Part& part) {
  SubsystemEntry entry;
  entry.description = describe_ode(part.name, "native", part.create()->interface());
  entry.create = [description = entry.description,
                  create = part.create](const SubsystemSettings& settings) {
    return make_ode_subsystem(description, watched(create(), description.name, ""), settings);
  };
  return entry;
}

Model model_of(const ModelBuilder& builder) {
  Model model;
  model.name = builder.name();
  model.source = builder.name();
  model.start = builder.start();
  model.stop = builder.stop();
  for (const auto& part : builder.parts()) {
    model.subsystems.push_back(entry_of(part));
  }
  for (const auto& wire : builder.wires()) {
    model.connections.push_back({wire.from, wire.to, {}});
  }
  return model;
}

}  // namespace

std::int64_t ProgramOptions::integer(const std::string& name, std::int64_t fallback) const {
  const auto value = options::integer(name, INT_MIN, INT_MAX);
  return value ? *value : fallback;
}

double ProgramOptions::real(const std::string& name, double fallback) const {
  return options::real(name).value_or(fallback);
}

ModelBuilder::ModelBuilder(std::string name, double start, double stop)
    : name_(std::move(name)), start_(start), stop_(stop) {}

ModelBuilder& ModelBuilder::add(std::string name, Create create) {
  parts_.push_back({std::move(name), std::move(create)});
  return *this;
}

ModelBuilder& ModelBuilder::connect(std::string from, std::string to) {
  wires_.push_back({std::move(from), std::move(to)});
  return *this;
}

int run_program(int argc, char** argv,
                const std::function<ModelBuilder(const ProgramOptions&)>& build) {
  const std::string command_line = command_line_of(argc, argv);
  return in_session(argc, argv, [&] {
    Model model = model_of(build(ProgramOptions()));
    take_measured_efforts(model);
    return run_command(std::move(model), command_line);
  });
}

}  // namespace concord
