#include "subsystem/fmu/fmu_slopes.hpp"

#include <algorithm>

namespace concord {

FmuSlopes::FmuSlopes(SteppedFmu& fmu, bool linearizes)
    : fmu_(fmu),
      linearizes_(linearizes),
      jacobians_(fmu),
      samples_(fmu.now().y.size()),
      values_(fmu.now().y.size()) {}

SlopeSource FmuSlopes::source() const {
  if (fmu_.use().output_slopes) return SlopeSource::fmu;
  if (linearizes_) return SlopeSource::linearization;
  return fmu_.use().variable_steps ? SlopeSource::differences : SlopeSource::none;
}

void FmuSlopes::clear() { std::fill(values_.begin(), values_.end(), 0.0); }

bool FmuSlopes::at_end(std::span<const Polynomial> inputs, double h, double distance) {
  clear();
  switch (source()) {
    case SlopeSource::fmu:
      from_fmu();
      return true;
    case SlopeSource::linearization:
      return by_linearization(inputs, h);
    case SlopeSource::differences:
      samples_.at_end(distance, values_);
      rest_where_held();
      return true;
    case SlopeSource::none:
      break;
  }
  return true;
}

void FmuSlopes::from_fmu() {
  if (fmu_.instance().get_output_derivatives(fmu_.outputs(), values_)) [[likely]]
    return;
  clear();
  if (fmu_.instance().last_was_discard() && fmu_.now().t == fmu_.start_time()) return;
  fmu_.tell(fmu_.instance().failure() + "; its output derivatives are not used from t = " +
            short_number(fmu_.now().t) + " s on");
  fmu_.use().output_slopes = false;
}

bool FmuSlopes::by_linearization(std::span<const Polynomial> inputs, double h) {
  if (!jacobians_.find(linear_)) return false;
  const std::size_t n_st = fmu_.now().x.size(), n_in = fmu_.now().u.size();
  ends_.resize(n_in);
  for (std::size_t j = 0; j < n_in; ++j) ends_[j] = inputs[j].at(h);
  linear_.f.resize(n_st);
  if (!jacobians_.derivatives(ends_, linear_.f)) return false;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    for (std::size_t j = 0; j < n_st; ++j) values_[i] += linear_.g_x[i * n_st + j] * linear_.f[j];
    for (std::size_t j = 0; j < n_in; ++j)
      values_[i] += linear_.g_u[i * n_in + j] * ends_[j].derivative;
  }
  return true;
}

void FmuSlopes::by_samples_ahead(std::span<const double> y, double distance) {
  if (samples_.complete()) samples_.at_start(y, distance, values_);
  rest_where_held();
}

void FmuSlopes::rest_where_held() {
  const auto& outputs = fmu_.setup().description.outputs;
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (outputs[i].kind == SignalKind::held) values_[i] = 0.0;
}

}  // namespace concord
