#include "simulation/steady_system.hpp"

#include <algorithm>
#include <stdexcept>

#include "concord/errors.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? "none" : joined(names);
}

std::size_t place_in(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// An output or state has a value.
PointEquation held_at(const std::string& name, PointQuantity what, double value) {
  return {name + " = " + short_number(value),
          {what},
          [value](double, std::span<const double> values, std::span<double> slopes) {
            slopes[0] = 1.0;
            return values[0] - value;
          }};
}

}  // namespace

SteadySystem::SteadySystem(SimulationCore& simulation, const SteadyWishes& wishes, double time)
    : simulation_(simulation),
      network_(simulation.subsystems(), simulation.stepper().point().inputs,
               simulation.stepper().coupling().states(), time,
               simulation.plan().settings.stop - simulation.plan().settings.start) {
  for (const auto& [name, value] : wishes.held) hold(name, value);
  for (const FreeWish& wish : wishes.free) set_free(wish);
  require_square();
  find_moving();
  std::vector<PointEquation> equations;
  for (const std::size_t state : state_) equations.push_back(at_rest(network_, state));
  std::ranges::copy(held_, std::back_inserter(equations));
  system_.emplace(network_, state_, free_, std::move(equations),
                  [this, model = wishes.model](const auto& numbers) {
                    Changes words;
                    for (const auto& [name, value] : numbers)
                      words.push_back(name + "=" + exact_number(value));
                    read_anew(model, words);
                  });
}

/// A value that the model refuses may only be too far.
void SteadySystem::read_anew(const std::function<Model(const Changes&)>& model,
                             const Changes& numbers) {
  std::unique_ptr<SimulationCore> other;
  try {
    other = std::make_unique<SimulationCore>(
        std::make_unique<SimulationPlan>(MPI_COMM_SELF, model(numbers)));
    other->start();
  } catch (const std::runtime_error& refused) {
    throw RecoverableFailure("with " + joined(numbers) + ": " + refused.what());
  }
  const Network &before = network_.network(), &now = other->plan().network;
  if (before.state_names() != now.state_names() || before.input_names() != now.input_names() ||
      before.output_names() != now.output_names())
    throw InputError("concord steady: with " + joined(numbers) +
                     " the model has other variables; free what leaves them as they are");
  network_.stand_on(other->subsystems(), other->stepper().point().inputs);
  other_ = std::move(other);
}

void SteadySystem::hold(const std::string& name, double value) {
  using Kind = PointQuantity::Kind;
  const Network& network = network_.network();
  if (const std::size_t o = place_in(network.output_names(), name); o < network.n_outputs()) {
    held_.push_back(held_at(name, {Kind::output, o}, value));
    held_names_.push_back(name);
  } else if (const std::size_t s = place_in(network.state_names(), name); s < network.n_states()) {
    held_.push_back(held_at(name, {Kind::state, s}, value));
    held_names_.push_back(name);
  } else {
    const Settable what = simulation_.settable(name);
    if (what.kind() == Settable::Kind::parameter) {
      throw InputError("concord steady: '" + name + "' is a parameter, which --set " + name + "=" +
                       exact_number(value) +
                       " gives another value; --hold is for inputs, outputs "
                       "and states");
    }
    network_.set_input(what.index(), value);
  }
}

void SteadySystem::set_free(const FreeWish& wish) {
  const auto& [name, given, around] = wish;
  if (around) {
    free_.push_back({name, std::nullopt, *given});
    return;
  }
  const Settable what = simulation_.settable(name);
  std::optional<double> value = given;
  if (what.kind() == Settable::Kind::input) {
    value = network_.input(what.index());
  } else if (!value) {
    throw InputError("concord steady: nothing tells the value of parameter '" + name +
                     "'; free a parameter of equations, or an input that nothing feeds, instead");
  }
  free_.push_back({name, what, *value});
}

void SteadySystem::require_square() const {
  if (held_.size() == free_.size()) return;
  throw InputError("concord steady: " + std::to_string(held_.size()) +
                   " outputs and states are held (" + listed(held_names_) + ") and " +
                   std::to_string(free_.size()) + " parameters and inputs are free (" +
                   listed(names_of(free_)) + "): " +
                   (held_.size() > free_.size()
                        ? "the point is overdetermined; free as many with --free as are held"
                        : "the point is underdetermined; --hold an output or a state for each"));
}

/// Those whose columns are not zero here.
void SteadySystem::note_what_matters(std::vector<char>& matters) {
  const NetworkAtPoint::Derived derived = network_.derive();
  for (std::size_t i = 0; i < matters.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    const auto acts_on = [&](const PointEquation& held) {
      const PointQuantity& what = held.quantities.front();
      return what.kind == PointQuantity::Kind::output
                 ? derived.g_x(static_cast<Eigen::Index>(what.index), column) != 0.0
                 : what.index == i;
    };
    if (derived.f_x.col(column).any() || std::ranges::any_of(held_, acts_on)) matters[i] = 1;
  }
}

/// At the start and at a second point, as what is zero at the start may be so by chance.
void SteadySystem::find_moving() {
  std::vector<double>& x = network_.states();
  const std::vector<double> start = x;
  std::vector<char> matters(x.size(), 0);
  note_what_matters(matters);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += 0.37 * network_.sizes()[i];
  try {
    note_what_matters(matters);
  } catch (const RecoverableFailure&) {
    // Beyond what the model is defined for: the start alone tells.
  }
  x = start;
  moves_.assign(x.size(), 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (matters[i] == 0 && !network_.indicated(i)) continue;
    moves_[i] = 0;
    state_.push_back(i);
  }
}

}  // namespace concord
