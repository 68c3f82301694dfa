#include "coupling/points/consistent_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "support/agreement.hpp"

namespace concord {
namespace {

/// Longest path: a component's stage is one more than the latest of those it depends on; loops
/// stand alone in their stage.
std::vector<std::vector<const FeedthroughComponent*>> staged(const Network& network) {
  std::vector<std::size_t> component_of(network.n_outputs());
  const auto& components = network.components();
  for (std::size_t c = 0; c < components.size(); ++c) {
    for (const std::size_t output : components[c].outputs) {
      component_of[output] = c;
    }
  }
  std::vector<std::vector<std::size_t>> predecessors(components.size());
  for (const auto& [output, input] : network.feedthrough()) {
    if (network.links()[input]) {
      predecessors[component_of[output]].push_back(component_of[network.links()[input]->output]);
    }
  }
  std::vector<std::size_t> stage(components.size(), 0);
  std::vector<std::vector<const FeedthroughComponent*>> stages;
  for (std::size_t c = 0; c < components.size(); ++c) {
    for (const std::size_t p : predecessors[c]) {
      stage[c] = p == c ? stage[c] : std::max(stage[c], stage[p] + 1);
    }
    stages.resize(std::max(stages.size(), stage[c] + 1));
    stages[stage[c]].push_back(&components[c]);
  }
  return stages;
}

constexpr Sample not_a_number{std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::quiet_NaN()};

}  // namespace

ConsistentInputs::ConsistentInputs(RankNetwork& subsystems) : subsystems_(subsystems) {
  for (const auto& components : staged(subsystems.network())) {
    std::vector<std::size_t> plain;
    for (const auto* component : components) {
      if (component->loop) {
        stages_.push_back({{}, std::make_unique<AlgebraicLoop>(subsystems, *component)});
      } else {
        plain.insert(plain.end(), component->outputs.begin(), component->outputs.end());
      }
    }
    if (!plain.empty()) {
      stages_.push_back({members(plain), nullptr});
    }
  }
  std::set<std::size_t> seen;
  for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) {
    for (auto& member : stage->members) {
      member.last = seen.insert(member.subsystem).second;
    }
  }
}

ConsistentInputs::~ConsistentInputs() = default;

/// Own subsystems with an output among the given global ones.
std::vector<ConsistentInputs::Member> ConsistentInputs::members(
    const std::vector<std::size_t>& outputs) const {
  std::map<std::size_t, std::vector<std::size_t>> of;
  for (const std::size_t output : outputs) {
    of[subsystems_.network().subsystem_of_output(output)].push_back(output);
  }
  std::vector<Member> result;
  for (const std::size_t k : subsystems_.all()) {
    const auto found = of.find(subsystems_.global(k));
    if (found == of.end()) {
      continue;
    }
    result.push_back({k, {}, false});
    for (const std::size_t output : found->second) {
      result.back().outputs.push_back(subsystems_.local_output(output));
    }
  }
  return result;
}

/// A loop on this rank, or on several; its own subsystems have put out what fits.
bool ConsistentInputs::solve_loop(AlgebraicLoop& loop, PointEvaluation& point, Wanted wanted,
                                  std::span<Sample> inputs, std::span<Sample> outputs) {
  if (!loop.here()) {
    return true;
  }
  const bool solved = wanted == Wanted::values
                          ? loop.solve_values(point, inputs, outputs)
                          : loop.solve_derivatives(point, wanted, inputs, outputs);
  if (!solved && failure_.empty()) {
    failure_ = loop.failure();
  }
  return solved;
}

/// Outputs of the stage; others of the same subsystem may still wait for their inputs, so that only
/// the stage's own must be there.
bool ConsistentInputs::evaluate(const Member& member, PointEvaluation& point, Wanted wanted,
                                std::span<const Sample> inputs, std::span<Sample> outputs) {
  if (point.outputs(member.subsystem, inputs, wanted, outputs) == Outcome::ok) [[likely]] {
    return true;
  }
  if (member.last) {
    return false;
  }
  for (const std::size_t output : member.outputs) {
    outputs[output] = not_a_number;
  }
  point.outputs(member.subsystem, inputs, wanted, outputs);
  return std::all_of(member.outputs.begin(), member.outputs.end(), [&](std::size_t output) {
    return std::isfinite(outputs[output].value) && std::isfinite(outputs[output].derivative) &&
           (wanted != Wanted::up_to_curvatures || std::isfinite(outputs[output].curvature));
  });
}

bool ConsistentInputs::evaluate(const Stage& stage, PointEvaluation& point, Wanted wanted,
                                std::span<Sample> inputs, std::span<Sample> outputs) {
  bool ok = true;
  if (stage.loop) {
    ok = solve_loop(*stage.loop, point, wanted, inputs, outputs);
  }
  for (const Member& member : stage.members) {
    ok = evaluate(member, point, wanted, inputs, outputs) && ok;
  }
  return ok;
}

bool ConsistentInputs::in_stages(PointEvaluation& point, Wanted wanted, std::span<Sample> inputs,
                                 std::span<Sample> outputs) {
  bool ok = true;
  for (const auto& stage : stages_) {
    ok = evaluate(stage, point, wanted, inputs, outputs) && ok;
    subsystems_.exchange(outputs, inputs);
  }
  return agree_on_largest(subsystems_.comm(), ok ? 0 : 1) == 0;
}

/// Values first: y' = g_t + g_x f(t,x,u) + g_u u' needs every value, but slopes only along the
/// direct feedthrough; y'' needs all of these, and curvatures along the direct feedthrough.
Outcome ConsistentInputs::solve(PointEvaluation& point, Wanted wanted, std::span<Sample> inputs,
                                std::span<Sample> outputs) {
  failure_.clear();
  bool ok = in_stages(point, Wanted::values, inputs, outputs);
  for (const Wanted next : {Wanted::values_and_derivatives, Wanted::up_to_curvatures}) {
    ok = ok && (next > wanted || in_stages(point, next, inputs, outputs));
  }
  if (!ok) {
    failure_ =
        agree_on_text(subsystems_.comm(), failure_.empty() ? std::nullopt : std::optional(failure_))
            .value_or("");
  }
  return ok ? Outcome::ok : Outcome::failed;
}

void ConsistentInputs::io(Archive& archive) {
  for (const Stage& stage : stages_) {
    if (stage.loop) {
      stage.loop->io(archive, subsystems_.comm());
    }
  }
}

}  // namespace concord
