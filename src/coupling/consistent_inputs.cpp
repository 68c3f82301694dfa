#include "coupling/consistent_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "support/agreement.hpp"
#include "support/petsc.hpp"

namespace concord {

/// One algebraic loop: a SNES on (u, u') of the inputs that close it, distributed like the
/// subsystems.
class ConsistentInputs::Loop {
 public:
  Loop(RankNetwork& subsystems, std::vector<std::size_t> own, std::vector<std::size_t> inputs,
       std::string text)
      : subsystems_(subsystems),
        own_(std::move(own)),
        inputs_(std::move(inputs)),
        fed_(subsystems.n_inputs()),
        text_(std::move(text)) {
    const auto rows = static_cast<PetscInt>(2 * inputs_.size());
    petsc(VecCreateMPI(subsystems.comm(), rows, PETSC_DECIDE, unknown_.out()));
    petsc(VecDuplicate(unknown_, residual_.out()));
    petsc(SNESCreate(subsystems.comm(), snes_.out()));
    petsc(SNESSetOptionsPrefix(snes_, "loop_"));
    petsc(SNESSetFunction(snes_, residual_, form, this));
    petsc(MatCreateSNESMF(snes_, jacobian_.out()));
    petsc(SNESSetJacobian(snes_, jacobian_, jacobian_, MatMFFDComputeJacobian, nullptr));
    petsc(SNESSetTolerances(snes_, 1e-14, 1e-13, 1e-15, 50, 100000));
    KSP ksp = nullptr;
    PC pc = nullptr;
    petsc(SNESGetKSP(snes_, &ksp));
    petsc(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    petsc(KSPGetPC(ksp, &pc));
    petsc(PCSetType(pc, PCNONE));
    petsc(SNESSetFromOptions(snes_));
  }

  bool solve(PointEvaluation& point, Wanted wanted, std::span<Sample> inputs,
             std::span<Sample> outputs) {
    point_ = &point;
    wanted_ = wanted;
    inputs_span_ = inputs;
    outputs_span_ = outputs;
    PetscScalar* v = nullptr;
    petsc(VecGetArrayWrite(unknown_, &v));
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      v[2 * i] = inputs[inputs_[i]].value;
      v[2 * i + 1] = inputs[inputs_[i]].derivative;
    }
    petsc(VecRestoreArrayWrite(unknown_, &v));
    petsc(SNESSolve(snes_, nullptr, unknown_));
    SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
    petsc(SNESGetConvergedReason(snes_, &reason));
    petsc(SNESComputeFunction(snes_, unknown_, residual_));
    return accepted(reason);
  }

  const std::string& text() const { return text_; }

 private:
  static PetscErrorCode form(SNES, Vec x, Vec f, void* context) {
    return static_cast<Loop*>(context)->residual(x, f);
  }

  PetscErrorCode residual(Vec x, Vec f) {
    const PetscScalar* v = nullptr;
    PetscScalar* r = nullptr;
    PetscCall(VecGetArrayRead(x, &v));
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      inputs_span_[inputs_[i]] = {v[2 * i], v[2 * i + 1]};
    }
    bool ok = true;
    for (const std::size_t k : own_) {
      ok = ok && point_->outputs(k, inputs_span_, wanted_, outputs_span_) == Outcome::ok;
    }
    subsystems_.exchange(outputs_span_, fed_);
    PetscCall(VecGetArrayWrite(f, &r));
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Sample& fed = fed_[inputs_[i]];
      r[2 * i] = v[2 * i] - fed.value;
      r[2 * i + 1] = wanted_ == Wanted::values ? 0.0 : v[2 * i + 1] - fed.derivative;
    }
    if (!ok && !inputs_.empty()) {
      r[0] = std::numeric_limits<double>::quiet_NaN();
    }
    PetscCall(VecRestoreArrayWrite(f, &r));
    PetscCall(VecRestoreArrayRead(x, &v));
    return 0;
  }

  /// Rounding can keep SNES from its tight tolerance: what counts is the residual reached.
  bool accepted(SNESConvergedReason reason) {
    double size = 0.0;
    double rest = 0.0;
    petsc(VecNorm(unknown_, NORM_INFINITY, &size));
    petsc(VecNorm(residual_, NORM_INFINITY, &rest));
    return std::isfinite(rest) && (reason > 0 || rest <= 1e-10 * (1.0 + size)) &&
           rest <= 1e-6 * (1.0 + size);
  }

  RankNetwork& subsystems_;
  std::vector<std::size_t> own_;
  std::vector<std::size_t> inputs_;
  std::vector<Sample> fed_;
  std::string text_;
  VecHandle unknown_, residual_;
  MatHandle jacobian_;
  SnesHandle snes_;
  PointEvaluation* point_ = nullptr;
  Wanted wanted_ = Wanted::values;
  std::span<Sample> inputs_span_, outputs_span_;
};

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

std::vector<std::size_t> own_subsystems(const RankNetwork& subsystems,
                                        const std::vector<std::size_t>& outputs) {
  std::set<std::size_t> owners;
  for (const std::size_t output : outputs) {
    owners.insert(subsystems.network().subsystem_of_output(output));
  }
  std::vector<std::size_t> own;
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    if (owners.contains(subsystems.global(k))) {
      own.push_back(k);
    }
  }
  return own;
}

/// Own inputs through which the loop closes: fed by one of its outputs, felt by another.
std::vector<std::size_t> closing_inputs(const RankNetwork& subsystems,
                                        const FeedthroughComponent& loop) {
  const auto& network = subsystems.network();
  const auto inside = [&](std::size_t output) {
    return std::binary_search(loop.outputs.begin(), loop.outputs.end(), output);
  };
  std::set<std::size_t> globals;
  for (const auto& [output, input] : network.feedthrough()) {
    const auto& link = network.links()[input];
    if (link && inside(output) && inside(link->output)) {
      globals.insert(input);
    }
  }
  std::vector<std::size_t> own;
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    const auto range = network.inputs_of(subsystems.global(k));
    for (std::size_t i = range.first; i < range.last; ++i) {
      if (globals.contains(i)) {
        own.push_back(subsystems.local_input(i));
      }
    }
  }
  return own;
}

}  // namespace

ConsistentInputs::ConsistentInputs(RankNetwork& subsystems) : subsystems_(subsystems) {
  const Network& network = subsystems.network();
  for (const auto& components : staged(network)) {
    std::vector<std::size_t> plain;
    for (const auto* component : components) {
      if (!component->loop) {
        plain.insert(plain.end(), component->outputs.begin(), component->outputs.end());
        continue;
      }
      auto own = own_subsystems(subsystems, component->outputs);
      auto loop = std::make_unique<Loop>(subsystems, own, closing_inputs(subsystems, *component),
                                         network.describe_loop(*component));
      stages_.push_back({std::move(own), std::move(loop)});
    }
    if (!plain.empty()) {
      stages_.push_back({own_subsystems(subsystems, plain), nullptr});
    }
  }
}

ConsistentInputs::~ConsistentInputs() = default;

Outcome ConsistentInputs::evaluate(const Stage& stage, PointEvaluation& point, Wanted wanted,
                                   std::span<Sample> inputs, std::span<Sample> outputs) {
  if (stage.loop && !stage.loop->solve(point, wanted, inputs, outputs)) {
    failure_ = "algebraic loop " + stage.loop->text() +
               " has no solution that Newton's method finds; look at the start values, or try "
               "-loop_snes_linesearch_type l2 or -loop_snes_type ngmres";
    return Outcome::failed;
  }
  Outcome outcome = Outcome::ok;
  for (const std::size_t k : stage.own) {
    if (point.outputs(k, inputs, wanted, outputs) != Outcome::ok) {
      outcome = Outcome::failed;
    }
  }
  subsystems_.exchange(outputs, inputs);
  return outcome;
}

Outcome ConsistentInputs::in_stages(PointEvaluation& point, Wanted wanted, std::span<Sample> inputs,
                                    std::span<Sample> outputs) {
  Outcome outcome = Outcome::ok;
  for (const auto& stage : stages_) {
    if (evaluate(stage, point, wanted, inputs, outputs) != Outcome::ok) {
      outcome = Outcome::failed;
    }
  }
  return agree_on_largest(subsystems_.comm(), outcome == Outcome::ok ? 0 : 1) == 0
             ? Outcome::ok
             : Outcome::failed;
}

/// Values first: y' = g_t + g_x f(t,x,u) + g_u u' needs every value, but slopes only along the
/// direct feedthrough.
Outcome ConsistentInputs::solve(PointEvaluation& point, Wanted wanted, std::span<Sample> inputs,
                                std::span<Sample> outputs) {
  failure_.clear();
  const Outcome values = in_stages(point, Wanted::values, inputs, outputs);
  if (values != Outcome::ok || wanted == Wanted::values) {
    return values;
  }
  return in_stages(point, wanted, inputs, outputs);
}

}  // namespace concord
