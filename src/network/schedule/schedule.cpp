#include "network/schedule/schedule.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "concord/errors.hpp"
#include "network/schedule/schedule_search.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Positions = std::unordered_map<std::string, std::size_t>;

Positions positions(const Model& model) {
  Positions result;
  for (std::size_t k = 0; k < model.subsystems.size(); ++k) {
    result[model.subsystems[k].description.name] = k;
  }
  return result;
}

[[noreturn]] void refuse(const ScheduledName& member, const Model& model) {
  std::vector<std::string> names;
  for (const auto& entry : model.subsystems) {
    names.push_back(entry.description.name);
  }
  throw InputError(member.location + ": the schedule names '" + member.name +
                   "', which is no subsystem; " + known("subsystems", member.name, names));
}

}  // namespace

std::vector<std::vector<ScheduleProblem::Signals>> received_signals(
    const Network& network, std::span<const double> weights) {
  const std::size_t n = network.n_subsystems();
  std::vector<std::vector<ScheduleProblem::Signals>> received(n);
  std::vector<std::size_t> receiver(n, n), place(n);  // the last one of each sender, and where
  for (std::size_t i = 0; i < network.n_inputs(); ++i) {
    const auto& link = network.links()[i];
    if (!link) continue;
    const std::size_t to = network.subsystem_of_input(i);
    const std::size_t from = network.subsystem_of_output(link->output);
    if (receiver[from] != to) {
      receiver[from] = to;
      place[from] = received[to].size();
      received[to].push_back({from, 0.0});
    }
    received[to][place[from]].count += weights.empty() ? 1.0 : weights[i];
  }
  return received;
}

ScheduleProblem schedule_problem(const Model& model, const Network& network) {
  const std::size_t n = network.n_subsystems();
  ScheduleProblem problem{received_signals(network, model.signal_weights), std::vector<double>(n)};
  const bool given = std::any_of(model.subsystems.begin(), model.subsystems.end(),
                                 [](const SubsystemEntry& entry) { return entry.effort > 0.0; });
  for (std::size_t k = 0; k < n; ++k) {
    const auto& entry = model.subsystems[k];
    if (given && entry.effort <= 0.0 && entry.description.stands_for.empty()) {
      throw InputError(entry.location + ": subsystem '" + entry.description.name +
                       "' has no 'effort', but others have; give it to all or to none");
    }
    problem.effort[k] =
        given ? entry.effort : 1.0 + static_cast<double>(entry.description.states.size());
  }
  return problem;
}

ScheduleCosts costs(const ScheduleProblem& problem, const Groups& groups) {
  struct Place {
    std::size_t group, position;
  };
  std::vector<Place> places(problem.size());
  double longest = 0.0, work = 0.0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    double effort = 0.0;
    for (std::size_t m = 0; m < groups[g].size(); ++m) {
      places[groups[g][m]] = {g, m};
      effort += problem.effort[groups[g][m]];
    }
    longest = std::max(longest, effort);
    work += effort;
  }
  double all = 0.0, extrapolated = 0.0;
  for (std::size_t k = 0; k < problem.size(); ++k) {
    for (const auto& [from, count] : problem.received[k]) {
      const bool known =
          places[from].group == places[k].group && places[from].position < places[k].position;
      all += count;
      extrapolated += known ? 0.0 : count;
    }
  }
  return {all > 0.0 ? extrapolated / all : 0.0, work > 0.0 ? longest / work : 0.0};
}

Groups best_sequence(const ScheduleProblem& problem) {
  return problem.size() <= largest_exact_schedule ? exact_sequence(problem)
                                                  : good_sequence(problem);
}

Groups best_groups(const ScheduleProblem& problem, double w) {
  return problem.size() <= largest_exact_schedule ? exact_groups(problem, w)
                                                  : good_groups(problem, w);
}

std::string written(const Groups& groups, const Model& model) {
  std::vector<std::string> texts;
  for (const auto& group : groups) {
    std::vector<std::string> names;
    for (const std::size_t k : group) {
      names.push_back(model.subsystems[k].description.name);
    }
    texts.push_back("[" + joined(names) + "]");
  }
  return joined(texts);
}

Groups given_groups(const Model& model) {
  Groups groups;
  std::vector<bool> placed(model.subsystems.size(), false);
  const Positions known = model.groups.empty() ? Positions{} : positions(model);
  for (const auto& names : model.groups) {
    groups.emplace_back();
    for (const auto& member : names) {
      const auto found = known.find(member.name);
      if (found == known.end()) {
        refuse(member, model);
      }
      const std::size_t k = found->second;
      if (placed[k]) {
        throw InputError(member.location + ": subsystem '" + member.name +
                         "' is in the schedule twice; name it once");
      }
      placed[k] = true;
      groups.back().push_back(k);
    }
  }
  for (std::size_t k = 0; k < placed.size() && !model.groups.empty(); ++k) {
    const SubsystemEntry& entry = model.subsystems[k];
    if (!placed[k] && entry.description.stands_for.empty()) {
      throw InputError(model.groups_location + ": subsystem '" + entry.description.name +
                       "' is in no group of the schedule; add it to one, or give it its own");
    }
    if (!placed[k]) {
      groups.push_back({k});
    }
  }
  return groups;
}

}  // namespace concord
