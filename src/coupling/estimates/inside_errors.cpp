#include "coupling/estimates/inside_errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/agreement.hpp"

namespace concord {
namespace {

/// The share of e that outputs inside may be wrong by.
constexpr double known_to = 0.1;

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

bool is_delay(const SubsystemDescription& description) { return description.kind == "delay"; }

/// Own subsystems whose outputs are functions of their inputs, or of what these were, some of which
/// something feeds.
std::vector<std::size_t> followers_in(const RankNetwork& subsystems) {
  const auto& connected = subsystems.connected_inputs();
  std::vector<std::size_t> result;
  for (const std::size_t k : subsystems.all()) {
    const Subsystem& subsystem = subsystems.own(k);
    const SubsystemDescription& description = subsystem.description();
    const IndexRange inputs = subsystems.inputs_of(k);
    const auto first = std::ranges::lower_bound(connected, inputs.first);
    const bool fed = first != connected.end() && *first < inputs.last;
    const bool follows = !description.feedthrough.empty() || is_delay(description);
    if (fed && follows && description.states.empty() && subsystem.retraces() &&
        !description.constraint) {
      result.push_back(k);
    }
  }
  return result;
}

/// Of all ranks: outputs that are looked at between Lobatto's points.
std::size_t count_scanned(const RankNetwork& subsystems, std::span<const std::size_t> followers,
                          std::size_t by_time) {
  auto own = static_cast<double>(by_time);
  for (const std::size_t k : followers) own += static_cast<double>(subsystems.outputs_of(k).size());
  return static_cast<std::size_t>(std::llround(agree_on_sum(subsystems.comm(), own)));
}

/// The outputs at a share of the macro-step, with these inputs. Whether that works.
bool follow_to(RankNetwork& subsystems, std::size_t k, double share,
               std::span<const Polynomial> inputs, std::span<Sample> outputs) {
  const MacroStep step = subsystems.passed_way().piece(k, 0).step;
  const MacroStep until{step.begin, step.begin + share * step.size()};
  Outcome outcome = Outcome::failed;
  const auto thrown = subsystems.asking(
      k, [&] { outcome = subsystems.own(k).retrace(until, inputs, {}, outputs); });
  return !thrown && outcome != Outcome::failed;
}

/// What outputs are sums of half way, |g_u| |u|; 0 where nobody knows.
std::vector<double> terms_of(RankNetwork& subsystems, std::size_t k) {
  constexpr double little = 1e-6, half_way = 0.5;
  const auto given = subsystems.passed_way().piece(k, 0).inputs;
  std::vector<Polynomial> inputs(given.begin(), given.end());
  std::vector<Sample> usual(subsystems.outputs_of(k).size()), moved(usual.size());
  std::vector<double> terms(usual.size(), 0.0);
  if (!follow_to(subsystems, k, half_way, inputs, usual)) return terms;
  for (Polynomial& input : inputs) {
    const Polynomial before = input;
    for (double& c : input.c) c *= 1.0 + little;
    const bool known = follow_to(subsystems, k, half_way, inputs, moved);
    for (std::size_t o = 0; known && o < terms.size(); ++o)
      terms[o] += std::abs(moved[o].value - usual[o].value) / little;
    input = before;
  }
  return terms;
}

/// Of what mostly is not there at all.
double of(const std::vector<double>& values, std::size_t i) {
  return values.empty() ? 0.0 : values[i];
}

/// Of what a signal is beside the polynomial through the points: as value its mean, as slope the
/// size of that, unless it cancels but for `rest` of the magnitude.
Sample unless_it_cancels(double mean, double magnitude, double rest) {
  const double size = std::abs(mean);
  return std::isfinite(size) ? Sample{mean, size >= rest * magnitude ? size : 0.0} : Sample{};
}

/// Of smooth ways Lobatto's points know the mean, other nodes far better.
double rest_of(const InsideRows& rows) { return rows.solved ? 0.0 : 0.25; }

/// What sums over as many cells leave of the magnitude.
double rest_of_sum(double cells) {
  constexpr double of_ends = 5.0;  // slopes there, times the macro-step, beside 12 magnitudes
  return of_ends / std::max(cells * cells, 1.0);
}

/// The inputs of subsystem k at a share of the macro-step by the polynomials through the points:
/// where they are solved for, those that it was given are only near to these.
void find_inputs(const RankNetwork& subsystems, std::size_t k, double share, const InsideRows& rows,
                 std::span<Polynomial> inputs) {
  const IndexRange in = subsystems.inputs_of(k);
  const auto at = rows.at(share);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    double value = 0.0;
    for (std::size_t p = 0; p < rows.count(); ++p)
      value += at[p] * rows.inputs[p][in.first + i].value;
    inputs[i] = {{value}};
  }
}

/// What outputs that follow inputs are beside the polynomials through the points. Two of Gauss'
/// points in each cell, of which there are `cells` in the macro-step.
void look_along(RankNetwork& subsystems, std::size_t k, std::size_t cells, const InsideRows& rows,
                std::span<Sample> beside) {
  constexpr double gauss = 0.28867513459481288;  // sqrt(3)/6
  if (subsystems.passed_way().count(k) != 1) return;
  const PassedWay::Piece piece = subsystems.passed_way().piece(k, 0);
  const IndexRange out = subsystems.outputs_of(k);
  const bool by_points = rows.solved && !is_delay(subsystems.own(k).description());
  std::vector<Polynomial> inputs(piece.inputs.begin(), piece.inputs.end());
  std::vector<Sample> there(out.size());
  std::vector<double> sums(out.size()), magnitudes(out.size());
  const auto n = static_cast<double>(cells);
  for (std::size_t i = 0; i < 2 * cells; ++i) {
    const double s = (static_cast<double>(i / 2) + 0.5 + (i % 2 == 0 ? -gauss : gauss)) / n;
    if (by_points) find_inputs(subsystems, k, s, rows, inputs);
    if (!follow_to(subsystems, k, s, inputs, there)) return;
    const auto at = rows.at(s);
    for (std::size_t o = 0; o < sums.size(); ++o) {
      const double beside_rows = (there[o].value - rows.output(out.first + o, at)) / (2.0 * n);
      sums[o] += beside_rows;
      magnitudes[o] += std::abs(beside_rows);
    }
  }
  for (std::size_t o = 0; o < sums.size(); ++o) {
    const double mean = sums[o] + rows.not_counted(out.first + o);
    beside[out.first + o] = unless_it_cancels(mean, magnitudes[o], rest_of(rows));
  }
}

}  // namespace

InsideErrors::InsideErrors(const Method& method, RankNetwork& subsystems)
    : subsystems_(subsystems),
      sizes_(method.estimate == ErrorEstimate::none ? InnerPoints::Sizes::given
                                                    : InnerPoints::Sizes::controlled),
      constraints_(subsystems),
      judges_(method.estimate == ErrorEstimate::predictor && !method.compares_with_prediction()),
      norm_(subsystems.comm(), method.adapt_tolerance, method.hold.degree,
            subsystems.network().n_integrations(),
            judges_ ? subsystems.connected_inputs().size() : 0),
      watched_(subsystems.connected_inputs()),
      mean_(subsystems.n_inputs()),
      size_(mean_.size()),
      moment_(mean_.size()),
      doubt_(mean_.size()),
      fed_(subsystems.n_inputs()),
      offsets_(subsystems),
      part_(subsystems.n_outputs()),
      followers_(followers_in(subsystems)),
      scanned_(
          count_scanned(subsystems, followers_, subsystems.scanned_outputs().outputs().size())) {
  if (method.adapt_tolerance.of_range) {
    ranges_.emplace(subsystems.connected_inputs().size());
  }
  watched_.insert(watched_.end(), subsystems.held_inputs().begin(), subsystems.held_inputs().end());
  // The unknown of a constraint is what was given for it, unless the macro-step is solved for it.
  for (const std::size_t k : subsystems.all()) {
    const auto constraint = subsystems.own(k).description().constraint;
    if (constraint && (method.solve.from_past || constraint == ConstraintKind::indirect)) {
      const IndexRange out = subsystems.outputs_of(k);
      for (std::size_t o = out.first; o < out.last; ++o) unknown_.push_back(o);
    }
  }
  forget();
}

void InsideErrors::scan(const CommunicationPoint& point, double stop) {
  from_ = point.time;
  until_ = stop;
  scan_again(point);
}

void InsideErrors::scan_again(const CommunicationPoint& point) {
  if (scanned_ == 0) {
    return;
  }
  ScannedOutputs& scanned = subsystems_.scanned_outputs();
  const bool anew = scanned.scan(from_, until_, point.inputs, scanned_);
  if (agree_on_largest(subsystems_.comm(), anew ? 1 : 0) == 0) {
    return;
  }
  beside_.assign(part_.size(), Sample{});
  for (std::size_t i = 0; i < scanned.outputs().size(); ++i) {
    beside_[scanned.outputs()[i]].value = scanned.range(i);
  }
  ahead_.resize(mean_.size());
  const auto take = [&](std::size_t i, double range) { ahead_[i] = std::abs(range); };
  feed(&Sample::value, take);
  pass_on_delays(ahead_);
  feed(&Sample::value, take);
}

void InsideErrors::restart(const CommunicationPoint& point) {
  const auto& connected = subsystems_.connected_inputs();
  subsystems_.inner_points().forget();
  norm_.restart();
  see(point);
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const bool steep = point.slopes_known && point.inputs[connected[j]].derivative != 0.0;
    const bool unknown = subsystems_.input_sizes()[connected[j]] == 0.0 ||
                         subsystems_.input_sizes().only_expected(connected[j]);
    if (judges_ && unknown && !steep && of(ahead_, connected[j]) == 0.0 &&
        point.inputs[connected[j]].value == 0.0) {
      norm_.begins_at_zero(j);
    }
  }
  forget();
}

void InsideErrors::see(const CommunicationPoint& point) {
  const auto& connected = subsystems_.connected_inputs();
  for (std::size_t j = 0; ranges_ && j < connected.size(); ++j) {
    ranges_->see(j, point.inputs[connected[j]].value);
  }
}

/// part_: what outputs may be wrong by.
void InsideErrors::find_rows(const MacroStep& step, const CommunicationPoint& point,
                             const Trial& trial, const Coupling& coupling) {
  if (const InsideRows* rows = coupling.inside()) {
    rows_ = *rows;
    std::ranges::fill(part_, Sample{});
    return;
  }
  for (auto& row : inputs_) row.resize(subsystems_.n_inputs());
  for (auto& row : outputs_) row.resize(subsystems_.n_outputs());
  rows_ = {LobattoPoints::share, LobattoPoints::weight, LobattoPoints::weight, inputs_, outputs_};
  const auto known = coupling.passed_layer() || point.last_step == 0.0 ? InnerPoints::Past::unknown
                                                                       : InnerPoints::Past::known;
  subsystems_.inner_points().find({step, point.slopes_known, point.outputs, trial.outputs}, known,
                                  sizes_, inputs_, outputs_, part_);
  for (auto& row : outputs_) {
    for (const std::size_t o : unknown_) row[o].value = not_known;
  }
}

/// What is not much more than what outputs inside may be wrong by is not known.
void InsideErrors::look(const MacroStep& step, const CommunicationPoint& point, const Trial& trial,
                        const Coupling& coupling) {
  find_rows(step, point, trial, coupling);
  subsystems_.exchange(part_, fed_);
  for (const std::size_t i : watched_) {
    mean_[i] = size_[i] = moment_[i] = 0.0;
    doubt_[i] = std::abs(fed_[i].value - offsets_[i]);
  }
  for (std::size_t p = 0; p < rows_.count(); ++p) {
    subsystems_.exchange(rows_.outputs[p], fed_);
    for (std::size_t j = 0; j < watched_.size(); ++j) {
      const std::size_t i = watched_[j];
      const double error =
          j < subsystems_.connected_inputs().size()
              ? constraints_.rest_of(j, rows_.inputs[p][i], fed_[i], rows_.outputs[p]).value
              : rows_.inputs[p][i].value - fed_[i].value;
      mean_[i] += rows_.weights[p] * error;
      size_[i] += std::abs(rows_.weights[p] * error);
      moment_[i] += (0.5 - rows_.shares[p]) * rows_.weights[p] * error;
    }
  }
  if (scanned_ > 0) {
    add_scanned(step);
  }
  for (const std::size_t i : watched_) {
    if (known_to * size_[i] < doubt_[i]) {
      mean_[i] = size_[i] = not_known;
    }
  }
}

/// What lies between the points goes where outputs go, without the offsets of units.
void InsideErrors::add_scanned(const MacroStep& step) {
  const ScannedOutputs& scanned = subsystems_.scanned_outputs();
  const double cells = step.size() / scanned.resolution();
  beside_.assign(part_.size(), Sample{});
  for (std::size_t i = 0; i < scanned.outputs().size(); ++i) {
    const std::size_t o = scanned.outputs()[i];
    const auto beside = scanned.beside(i, step, rows_);
    beside_[o] = rows_.solved ? unless_it_cancels(beside.mean + rows_.not_counted(o),
                                                  beside.magnitude, rest_of_sum(cells))
                              : Sample{beside.mean, beside.magnitude};
  }
  look_along_followers(step);
  feed(&Sample::value, [&](std::size_t i, double mean) { mean_[i] -= mean; });
  scanned_size_.assign(mean_.size(), 0.0);
  feed(&Sample::derivative, [&](std::size_t i, double size) {
    scanned_size_[i] = std::abs(size);
    size_[i] += std::abs(size);
  });
}

/// Over the whole experiment no more often than `most` times; in short macro-steps Lobatto's points
/// are as near to each other.
void InsideErrors::look_along_followers(const MacroStep& step) {
  constexpr double work = 1 << 19, fewest = 256.0, most = 1 << 12, worth_it = 2.0;
  const double of_all = std::clamp(work / static_cast<double>(scanned_), fewest, most);
  const double cells = std::ceil(of_all * step.size() / (until_ - from_));
  if (!(cells >= worth_it && cells <= of_all)) return;
  for (const std::size_t k : followers_) {
    look_along(subsystems_, k, static_cast<std::size_t>(cells), rows_, beside_);
  }
}

/// A part of what lies beside outputs becomes what lies beside the inputs that they feed.
template <class Use>
void InsideErrors::feed(double Sample::*part, const Use& use) {
  std::ranges::transform(beside_, part_.begin(), [&](const Sample& both) {
    return Sample{both.*part, 0.0};
  });
  subsystems_.exchange(part_, fed_);
  for (const std::size_t i : subsystems_.connected_inputs()) {
    use(i, fed_[i].value - offsets_[i]);
  }
}

/// Of what lies between the points: others' ways inside are known up to what integrators leave,
/// which no smaller macro-step makes less.
double InsideErrors::in_tolerances(const MacroStep& step, const Trial& trial) {
  noise_.clear();
  const double worst = in_tolerances(step.size(), trial);
  if (!(worst > 1.0)) return worst;
  find_noise();
  return in_tolerances(step.size(), trial);
}

double InsideErrors::in_tolerances(double h, const Trial& trial) {
  const auto& connected = subsystems_.connected_inputs();
  norm_.begin(h);
  for (std::size_t j = 0; j < connected.size(); ++j) {
    const std::size_t i = connected[j];
    const double value = trial.inputs[i].value;
    const double size = std::max(subsystems_.input_sizes()[i], of(ahead_, i));
    using Rise = ErrorNorm::Rise;
    const double ends =
        std::max(std::abs(rows_.inputs.front()[i].value), std::abs(rows_.inputs.back()[i].value));
    norm_.add(j, constraints_.is_equation(j) ? 0.0 : of(scanned_size_, i),
              ranges_ ? ranges_->range(j, value) : std::abs(value),
              ranges_ ? std::max(ranges_->size(j, size), of(ahead_, i)) : size, of(noise_, i),
              of(scanned_size_, i) > ends ? Rise::is_over : Rise::goes_on);
  }
  return norm_.worst();
}

/// What rounding and integrators leave of large inputs whose difference rises from nothing, now or
/// a delay ago.
void InsideErrors::find_noise() {
  beside_.assign(part_.size(), Sample{});
  for (const std::size_t k : followers_) {
    if (subsystems_.passed_way().count(k) != 1) continue;
    const std::vector<double> terms = terms_of(subsystems_, k);
    const std::size_t first = subsystems_.outputs_of(k).first;
    for (std::size_t o = 0; o < terms.size(); ++o) beside_[first + o].value = norm_.noise(terms[o]);
  }
  noise_.resize(mean_.size());
  const auto take = [&](std::size_t i, double noise) { noise_[i] = std::abs(noise); };
  feed(&Sample::value, take);
  pass_on_delays(noise_);
  feed(&Sample::value, take);
}

/// What inputs of delays are comes out of them.
void InsideErrors::pass_on_delays(std::span<const double> inputs) {
  for (const std::size_t k : followers_) {
    if (is_delay(subsystems_.own(k).description())) {
      beside_[subsystems_.outputs_of(k).first].value = inputs[subsystems_.inputs_of(k).first];
    }
  }
}

void InsideErrors::commit(const CommunicationPoint& point) {
  norm_.commit();
  subsystems_.inner_points().commit();
  see(point);
}

void InsideErrors::forget() { std::ranges::fill(mean_, not_known); }

void InsideErrors::io(Archive& archive) {
  CONCORD_MEMBERS(archive, from_, until_);
  norm_.io(archive, Per::connected);
  if (ranges_) {
    ranges_->io(archive, Per::connected);
  }
}

}  // namespace concord
