#include "nested/nested_system.hpp"

#include <mpi.h>

#include <queue>
#include <utility>
#include <vector>

#include "coupling/implicit/network_equations.hpp"
#include "network/network.hpp"
#include "network/rank_network.hpp"
#include "network/written_parts.hpp"
#include "subsystem/ode_subsystem.hpp"

namespace concord {
namespace {

/// Within the system: "motor" of "drive.motor".
std::string part_name(const SubsystemDescription& part, const std::string& prefix) {
  return part.name.substr(prefix.size());
}

/// Which inputs of the network nothing within feeds, ascending.
std::vector<std::size_t> given_inputs(const Network& network) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < network.n_inputs(); ++i)
    if (!network.links()[i]) result.push_back(i);
  return result;
}

/// By way of connections within, too.
std::vector<Feedthrough> feedthrough_of(const Network& network,
                                        const std::vector<std::size_t>& given) {
  std::vector<std::vector<std::size_t>> felt(network.n_inputs()), fed(network.n_outputs());
  for (const auto& [output, input] : network.feedthrough()) felt[input].push_back(output);
  for (std::size_t i = 0; i < network.n_inputs(); ++i)
    if (const auto& link = network.links()[i]) fed[link->output].push_back(i);
  std::vector<Feedthrough> result;
  for (std::size_t g = 0; g < given.size(); ++g) {
    std::vector<char> reached(network.n_outputs());
    std::queue<std::size_t> inputs({given[g]});
    for (; !inputs.empty(); inputs.pop())
      for (const std::size_t output : felt[inputs.front()])
        if (std::exchange(reached[output], 1) == 0)
          for (const std::size_t input : fed[output]) inputs.push(input);
    for (std::size_t o = 0; o < reached.size(); ++o)
      if (reached[o] != 0) result.push_back({o, g});
  }
  return result;
}

/// The subsystems, which have been started.
struct Inside {
  explicit Inside(std::shared_ptr<const Model> given)
      : model(std::move(given)),
        network(*model),
        partition(Partition::on_one_rank(network)),
        settings(model->subsystems.size()),
        subsystems(MPI_COMM_SELF, *model, network, partition, settings) {
    constexpr double share = 1e-3;
    const double h = share * (model->stop - model->start);
    subsystems.start({model->start, model->start + h, h}, model->stop);
    if (subsystems.fatal()) throw SimulationError(subsystems.failure().value_or(""));
  }

  std::shared_ptr<const Model> model;
  Network network;
  Partition partition;
  SettingsList settings;
  RankNetwork subsystems;
};

class NestedModel final : private Inside, public NetworkEquations {
 public:
  NestedModel(std::shared_ptr<const Model> given, const SubsystemDescription& shown);

  OdeInterface interface() const override { return interface_; }
  bool set_parameter(std::size_t parameter, double value) override;
  std::optional<double> parameter(std::size_t parameter) override;
  bool settle(const EventPoint& point, std::span<const double> x,
              std::vector<Happening>& what) override;
  bool happen(const EventPoint& point, std::span<double> x, std::vector<Happening>& what) override;
  void pass_events(Archive& archive) override {
    events().pass(archive);
    NetworkEquations::io(archive);
  }
  void take_over(Archive& archive) override { events().take_over(archive); }

 private:
  struct Place {
    std::size_t subsystem, parameter;
  };

  void name(std::span<Happening> what) const;

  OdeInterface interface_;
  std::string prefix_;
  std::vector<Place> parameters_;
};

NestedModel::NestedModel(std::shared_ptr<const Model> given, const SubsystemDescription& shown)
    : Inside(std::move(given)),
      NetworkEquations(subsystems, given_inputs(network)),
      interface_(NetworkEquations::interface()),
      prefix_(is_group(shown) ? "" : shown.name + ".") {
  interface_.inputs = shown.inputs;
  interface_.states = shown.states;
  interface_.outputs = shown.outputs;
  interface_.feedthrough = shown.feedthrough;
  interface_.parameters = shown.parameters;
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const std::size_t count = subsystems.own(k).description().parameters.size();
    for (std::size_t p = 0; p < count; ++p) parameters_.push_back({k, p});
  }
}

bool NestedModel::set_parameter(std::size_t parameter, double value) {
  const Place& place = parameters_.at(parameter);
  return subsystems.own(place.subsystem).equations()->set_parameter(place.parameter, value);
}

std::optional<double> NestedModel::parameter(std::size_t parameter) {
  const Place& place = parameters_.at(parameter);
  return subsystems.own(place.subsystem).equations()->parameter(place.parameter);
}

/// "relay: T > 21": of one part, in which several are.
void NestedModel::name(std::span<Happening> what) const {
  for (Happening& one : what) {
    one = {0, part_name(subsystems.own(one.part).description(), prefix_) + ": " + one.what};
  }
}

bool NestedModel::settle(const EventPoint& point, std::span<const double> x,
                         std::vector<Happening>& what) {
  const std::size_t before = what.size();
  const bool changed = NetworkEquations::settle(point, x, what);
  name(std::span(what).subspan(before));
  return changed;
}

bool NestedModel::happen(const EventPoint& point, std::span<double> x,
                         std::vector<Happening>& what) {
  const std::size_t before = what.size();
  const bool changed = NetworkEquations::happen(point, x, what);
  name(std::span(what).subspan(before));
  return changed;
}

}  // namespace

std::string name_within(const SubsystemDescription& owner, const std::string& variable,
                        const std::string& prefix) {
  return part_name(owner, prefix) + "." + variable;
}

SubsystemDescription describe_nested(const std::string& name, const std::string& kind,
                                     const std::string& prefix, const Model& model) {
  const Network network(model);
  OdeInterface whole;
  whole.feedthrough = feedthrough_of(network, given_inputs(network));
  bool events = false, kinks = false;
  std::size_t input = 0;
  for (const SubsystemEntry& entry : model.subsystems) {
    const SubsystemDescription& within = entry.description;
    const auto add = [&](auto& all, auto variable) {
      variable.name = name_within(within, variable.name, prefix);
      all.push_back(std::move(variable));
    };
    for (const InputVariable& one : within.inputs)
      if (!network.links()[input++]) add(whole.inputs, one);
    for (const StateVariable& one : within.states) add(whole.states, one);
    for (const OutputVariable& one : within.outputs) add(whole.outputs, one);
    for (const std::string& one : within.parameters)
      whole.parameters.push_back(name_within(within, one, prefix));
    events = events || within.events;
    kinks = kinks || within.kinks;
  }
  SubsystemDescription result = describe_ode(name, kind, whole);
  // Guesses of loops within are remembered as what events have changed is.
  result.events = events || network.has_loops();
  result.kinks = kinks;
  return result;
}

std::unique_ptr<Subsystem> make_nested(const SubsystemDescription& description,
                                       std::shared_ptr<const Model> model,
                                       const SubsystemSettings& settings) {
  return make_ode_subsystem(description,
                            std::make_unique<NestedModel>(std::move(model), description), settings);
}

}  // namespace concord
