#include "network/schedule.hpp"

#include <algorithm>
#include <numeric>

#include "concord/errors.hpp"
#include "network/schedule_search.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// The subsystem of that name in the model file's groups.
std::size_t position_of(const ScheduledName& member, const Model& model) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < model.subsystems.size(); ++k) {
    names.push_back(model.subsystems[k].description.name);
    if (names.back() == member.name) {
      return k;
    }
  }
  throw InputError(member.location + ": the schedule names '" + member.name +
                   "', which is no subsystem; " + known("subsystems", member.name, names));
}

double total(const ScheduleProblem& problem) {
  double sum = 0.0;
  for (const auto& row : problem.signals) {
    sum = std::accumulate(row.begin(), row.end(), sum);
  }
  return sum;
}

}  // namespace

ScheduleProblem schedule_problem(const Model& model, const Network& network) {
  const std::size_t n = network.n_subsystems();
  ScheduleProblem problem{std::vector(n, std::vector<double>(n, 0.0)), std::vector<double>(n)};
  for (std::size_t i = 0; i < network.n_inputs(); ++i) {
    if (const auto& link = network.links()[i]) {
      problem.signals[network.subsystem_of_input(i)][network.subsystem_of_output(link->output)] +=
          1.0;
    }
  }
  const bool given = std::any_of(model.subsystems.begin(), model.subsystems.end(),
                                 [](const SubsystemEntry& entry) { return entry.effort > 0.0; });
  for (std::size_t k = 0; k < n; ++k) {
    const auto& entry = model.subsystems[k];
    if (given && entry.effort <= 0.0) {
      throw InputError(entry.location + ": subsystem '" + entry.description.name +
                       "' has no 'effort', but others have; give it to all or to none");
    }
    problem.effort[k] =
        given ? entry.effort : 1.0 + static_cast<double>(entry.description.states.size());
  }
  return problem;
}

ScheduleCosts costs(const ScheduleProblem& problem, const Groups& groups) {
  double extrapolated = 0.0;
  double longest = 0.0;
  for (const auto& group : groups) {
    double effort = 0.0;
    for (std::size_t m = 0; m < group.size(); ++m) {
      const auto& row = problem.signals[group[m]];
      extrapolated = std::accumulate(row.begin(), row.end(), extrapolated);
      for (std::size_t before = 0; before < m; ++before) {
        extrapolated -= row[group[before]];
      }
      effort += problem.effort[group[m]];
    }
    longest = std::max(longest, effort);
  }
  const double all = total(problem);
  const double work = std::accumulate(problem.effort.begin(), problem.effort.end(), 0.0);
  return {all > 0.0 ? extrapolated / all : 0.0, work > 0.0 ? longest / work : 0.0};
}

Groups best_sequence(const ScheduleProblem& problem) {
  return problem.size() <= largest_exact_schedule ? exact_sequence(problem)
                                                  : greedy_sequence(problem);
}

Groups best_groups(const ScheduleProblem& problem, double w) {
  return problem.size() <= largest_exact_schedule ? exact_groups(problem, w)
                                                  : greedy_groups(problem, w);
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
  for (const auto& names : model.groups) {
    groups.emplace_back();
    for (const auto& member : names) {
      const std::size_t k = position_of(member, model);
      if (placed[k]) {
        throw InputError(member.location + ": subsystem '" + member.name +
                         "' is in the schedule twice; name it once");
      }
      placed[k] = true;
      groups.back().push_back(k);
    }
  }
  for (std::size_t k = 0; k < placed.size() && !model.groups.empty(); ++k) {
    const auto& description = model.subsystems[k].description;
    if (!placed[k] && !description.constraint) {
      throw InputError(model.groups_location + ": subsystem '" + description.name +
                       "' is in no group of the schedule; add it to one, or give it its own");
    }
    if (!placed[k]) {
      groups.push_back({k});
    }
  }
  return groups;
}

}  // namespace concord
