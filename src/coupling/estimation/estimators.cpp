#include "coupling/estimation/estimators.hpp"

#include <algorithm>

#include "coupling/estimation/estimator.hpp"
#include "coupling/problem/constraint_rows.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

template <class T>
auto part(std::span<T> whole, IndexRange range) {
  return whole.subspan(range.first, range.size());
}

}  // namespace

Estimators::Estimators(RankNetwork& subsystems, const EstimatorSettings& settings, const Hold& hold)
    : subsystems_(subsystems),
      parts_(hold.estimated_parts()),
      estimators_(subsystems.n_own()),
      free_outputs_(subsystems.n_outputs()) {
  const SubsystemGains layout(subsystems, parts_);
  const ConstraintRows constraints(subsystems);
  std::size_t j = 0;
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    std::vector<std::size_t> connected(layout.inputs(k).begin(), layout.inputs(k).end());
    std::vector<bool> afresh;
    connected_.push_back({j, j + connected.size()});
    for (auto& input : connected) {
      input -= subsystems.inputs_of(k).first;
      afresh.push_back(constraints.begins_afresh(j++));
    }
    if (possible(subsystems.own(k).description().capabilities)) {
      estimators_[k] = std::make_unique<Estimator>(subsystems.own(k), std::move(connected),
                                                   std::move(afresh), settings, parts_);
    }
  }
}

Estimators::~Estimators() = default;

void Estimators::begin_afresh(std::span<const char> afresh) {
  if (std::equal(afresh.begin(), afresh.end(), afresh_.begin(), afresh_.end())) {
    return;
  }
  afresh_.assign(afresh.begin(), afresh.end());
  for (std::size_t k = 0; k < estimators_.size(); ++k) {
    if (estimators_[k]) {
      estimators_[k]->begin_afresh(part(afresh, connected_[k]));
    }
  }
}

/// An exception out of a subsystem is a failure of this rank, for which the others must not wait.
Estimators::State Estimators::prepare_own(std::size_t k, const MacroStep& step,
                                          const CommunicationPoint& point) {
  const auto& subsystem = subsystems_.own(k);
  Outcome outcome = Outcome::ok;
  bool changed = false;
  const WorkScope timed(subsystems_.clock(), k, Work::linearize);
  const auto thrown = subsystems_.at_point(k, [&] {
    changed = estimators_[k]->prepare(step, part(std::span(point.inputs), subsystems_.inputs_of(k)),
                                      part(std::span(point.outputs), subsystems_.outputs_of(k)),
                                      point.slopes_known, pool_, outcome);
  });
  if (!thrown && outcome == Outcome::ok) [[likely]] {
    return changed ? State::new_gains : State::same_gains;
  }
  failure_ = thrown ? *thrown
                    : "subsystem '" + subsystem.description().name +
                          "' cannot be linearised: " + subsystem.failure();
  return State::failed;
}

Estimators::State Estimators::prepare(const MacroStep& step, const CommunicationPoint& point) {
  State state = State::same_gains;
  pool_.clear();
  for (std::size_t k = 0; k < estimators_.size(); ++k) {
    if (!estimators_[k]) {
      continue;
    }
    const State own = prepare_own(k, step, point);
    if (own == State::failed) [[unlikely]] {
      return State::failed;
    }
    state = own == State::new_gains ? own : state;
    copy_free_response(k);
    if (parts_ > 2) {
      subsystems_.take_end_curvatures(k, estimators_[k]->stiff(), point.outputs);
    }
  }
  return state;
}

void Estimators::copy_free_response(std::size_t k) {
  const auto free = estimators_[k]->free_response();
  std::copy(free.begin(), free.end(),
            part(std::span(free_outputs_), subsystems_.outputs_of(k)).begin());
}

bool Estimators::curved() const {
  return std::any_of(estimators_.begin(), estimators_.end(),
                     [](const auto& estimator) { return estimator && estimator->curved(); });
}

/// What throws here does so again when it is integrated, where it is told.
bool Estimators::correct(std::span<const Sample> end) {
  bool good = true;
  for (std::size_t k = 0; k < estimators_.size(); ++k) {
    if (!estimators_[k] || !estimators_[k]->curved()) {
      continue;
    }
    bool own = false;
    subsystems_.asking(k,
                       [&] { own = estimators_[k]->correct(part(end, subsystems_.inputs_of(k))); });
    good = own && good;
    copy_free_response(k);
  }
  return good;
}

void Estimators::match(std::span<const Sample> end, std::span<const Sample> outputs) {
  for (std::size_t k = 0; k < estimators_.size(); ++k) {
    if (estimators_[k]) {
      estimators_[k]->match(part(end, subsystems_.inputs_of(k)),
                            part(outputs, subsystems_.outputs_of(k)));
      copy_free_response(k);
    }
  }
}

void Estimators::return_to_tangents() {
  for (std::size_t k = 0; k < estimators_.size(); ++k) {
    if (estimators_[k]) {
      estimators_[k]->return_to_tangent();
      copy_free_response(k);
    }
  }
}

void Estimators::copy_gains(SubsystemGains& gains) const {
  const auto parts = static_cast<std::size_t>(parts_);
  for (std::size_t k = 0; k < estimators_.size(); ++k) {
    if (!estimators_[k]) {
      continue;
    }
    if (k > 0 && estimators_[k - 1] && estimators_[k]->shares_gains_with(*estimators_[k - 1])) {
      gains.share(k, k - 1);
      continue;
    }
    const std::span<double> own = gains.own(k);
    for (std::size_t row = 0; row < parts * subsystems_.outputs_of(k).size(); ++row) {
      for (std::size_t column = 0; column < gains.columns(k); ++column) {
        own[row * gains.columns(k) + column] =
            estimators_[k]->gain(row / parts, static_cast<int>(row % parts), column / parts,
                                 static_cast<int>(column % parts));
      }
    }
  }
}

void Estimators::predict(std::size_t k, std::span<const Sample> end, std::span<Sample> outputs) {
  estimators_[k]->predict(part(end, subsystems_.inputs_of(k)),
                          part(outputs, subsystems_.outputs_of(k)));
}

void Estimators::output_terms(std::span<const Sample> inputs, std::span<Sample> outputs) const {
  std::fill(outputs.begin(), outputs.end(), Sample{});
  for (std::size_t k = 0; k < estimators_.size(); ++k) {
    if (estimators_[k]) {
      estimators_[k]->output_terms(part(inputs, subsystems_.inputs_of(k)),
                                   part(outputs, subsystems_.outputs_of(k)));
    }
  }
}

/// Only those that follow curves ask their subsystem.
void Estimators::observe(std::span<const Sample> inputs, std::span<const Sample> outputs) {
  for (std::size_t k = 0; k < estimators_.size(); ++k) {
    if (!estimators_[k]) {
      continue;
    }
    const auto look = [&] {
      estimators_[k]->observe(part(inputs, subsystems_.inputs_of(k)),
                              part(outputs, subsystems_.outputs_of(k)));
    };
    if (estimators_[k]->curved()) {
      subsystems_.asking(k, look);
    } else {
      look();
    }
  }
}

std::optional<std::string> Estimators::explain() const {
  const auto advancing = agree_on_text(subsystems_.comm(), subsystems_.failure());
  return advancing ? advancing : agree_on_text(subsystems_.comm(), failure_);
}

void Estimators::forget() {
  for (auto& estimator : estimators_) {
    if (estimator) {
      estimator->forget();
    }
  }
}

void Estimators::io(Archive& archive) {
  for (std::size_t k = 0; k < estimators_.size(); ++k) {
    if (estimators_[k]) {
      archive.within(k, [&] { CONCORD_MEMBERS(archive, *estimators_[k]); });
    }
  }
}

void Estimators::restart_touched() {
  for (std::size_t k = 0; k < estimators_.size(); ++k) {
    if (estimators_[k] && subsystems_.touched().contains(k)) {
      estimators_[k]->restart();
    }
  }
}

}  // namespace concord
