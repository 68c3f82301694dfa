#include "network/scanned_outputs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace concord {
namespace {

/// Neither states nor fed inputs, and no events, between which alone it may be asked.
bool depends_on_time_alone(const SubsystemDescription& description) {
  return description.states.empty() && description.capabilities.state_outputs &&
         !description.events && !description.kinks && !description.constraint;
}

}  // namespace

ScannedOutputs::ScannedOutputs(OwnSubsystems& own, const RankLayout& layout, const Network& network)
    : own_(own), layout_(layout) {
  for (const std::size_t k : layout.all()) {
    const IndexRange inputs = network.inputs_of(layout.global(k));
    const auto links = std::span(network.links()).subspan(inputs.first, inputs.size());
    const bool fed = std::ranges::any_of(links, [](const auto& link) { return link.has_value(); });
    if (fed || !depends_on_time_alone(own[k].description())) continue;
    subsystems_.push_back(k);
    const IndexRange out = layout.outputs_of(k);
    for (std::size_t o = out.first; o < out.last; ++o) outputs_.push_back(o);
  }
  values_.resize(outputs_.size());
}

ScannedOutputs::Stamp ScannedOutputs::stamp(double begin, double end,
                                            std::span<const Sample> inputs) const {
  Stamp result{begin, end, {}};
  for (const std::size_t k : subsystems_) {
    const IndexRange in = layout_.inputs_of(k);
    for (std::size_t i = in.first; i < in.last; ++i) result.inputs.push_back(inputs[i].value);
  }
  return result;
}

bool ScannedOutputs::scan(double begin, double end, std::span<const Sample> inputs,
                          std::size_t total) {
  constexpr std::size_t work = 1 << 20, fewest = 256, most = 1 << 14;
  if (outputs_.empty() || !(end > begin)) return false;
  Stamp now = stamp(begin, end, inputs);
  if (scanned_ == now) return false;
  scanned_ = std::move(now);
  count_ = std::clamp(work / std::max<std::size_t>(total, 1), fewest, most) + 1;
  begin_ = begin;
  cell_ = (end - begin) / static_cast<double>(count_ - 1);
  for (auto& values : values_) values.clear();
  for (const std::size_t k : subsystems_) look(k, inputs);
  for (auto& values : values_) {
    const bool moves = values.size() == count_ &&
                       std::ranges::any_of(values, [&](double v) { return v != values[0]; });
    if (!moves) values.clear();
  }
  return true;
}

void ScannedOutputs::look(std::size_t k, std::span<const Sample> inputs) {
  const IndexRange in = layout_.inputs_of(k), out = layout_.outputs_of(k);
  const auto first =
      static_cast<std::size_t>(std::ranges::lower_bound(outputs_, out.first) - outputs_.begin());
  there_.resize(out.size());
  for (std::size_t n = 0; n < count_; ++n) {
    StatePoint point{
        begin_ + static_cast<double>(n) * cell_, cell_, {}, inputs.subspan(in.first, in.size())};
    point.wanted = Wanted::values;
    Outcome outcome = Outcome::failed;
    const auto thrown = own_.asking(k, [&] { outcome = own_[k].outputs_at(point, there_); });
    if (thrown || outcome == Outcome::failed) return;
    for (std::size_t o = 0; o < out.size(); ++o) values_[first + o].push_back(there_[o].value);
  }
}

double ScannedOutputs::range(std::size_t i) const {
  const auto [low, high] = std::ranges::minmax_element(values_[i]);
  return values_[i].empty() ? 0.0 : *high - *low;
}

ScannedOutputs::Beside ScannedOutputs::beside(std::size_t i, const MacroStep& step,
                                              const InsideRows& rows) const {
  const std::vector<double>& seen = values_[i];
  Beside result;
  if (seen.empty()) return result;
  const double last = static_cast<double>(count_ - 1);
  const auto from =
      static_cast<std::size_t>(std::clamp(std::ceil((step.begin - begin_) / cell_), 0.0, last));
  const auto until =
      static_cast<std::size_t>(std::clamp(std::floor((step.end - begin_) / cell_), 0.0, last));
  for (std::size_t n = from; n <= until; ++n) {
    const double s = (begin_ + static_cast<double>(n) * cell_ - step.begin) / step.size();
    const double beside = seen[n] - rows.output(outputs_[i], rows.at(s));
    result.mean += beside * cell_ / step.size();
    result.magnitude += std::abs(beside) * cell_ / step.size();
  }
  return result;
}

}  // namespace concord
