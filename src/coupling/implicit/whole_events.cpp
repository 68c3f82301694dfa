#include "coupling/implicit/whole_events.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "concord/errors.hpp"

namespace concord {

WholeEvents::WholeEvents(RankNetwork& subsystems, const NetworkPoint& point)
    : subsystems_(subsystems), point_(point) {
  for (std::size_t k = 0; k < subsystems.n_own(); ++k) {
    OdeModel* const equations = subsystems.own(k).equations();
    auto* const events = dynamic_cast<EventModel*>(equations);
    const SubsystemDescription& own = subsystems.own(k).description();
    if (own.events && equations != nullptr && events == nullptr)
      throw InputError("subsystem '" + own.name +
                       "' has events in another process, which -cosim_type monolithic cannot make "
                       "its own; choose another -cosim_type");
    if (events != nullptr && events->has_events()) {
      own_.push_back({k, events, indicator_count_, discrete_count_});
      indicator_count_ += events->indicator_count();
      discrete_count_ += events->discrete_count();
    }
  }
}

void WholeEvents::indicators(std::span<Indicator> z) {
  for (const Own& own : own_) {
    own.model->indicators(point_.time(), point_.states_of(own.subsystem),
                          point_.inputs_of(own.subsystem),
                          z.subspan(own.first, own.model->indicator_count()));
  }
}

void WholeEvents::indicator_slopes(std::span<double> slopes) {
  for (const Own& own : own_) {
    own.model->indicator_slopes(point_.time(), point_.states_of(own.subsystem),
                                point_.inputs_of(own.subsystem), point_.motion_of(own.subsystem),
                                slopes.subspan(own.first, own.model->indicator_count()));
  }
}

void WholeEvents::pass(Archive& archive) {
  for (const Own& own : own_) {
    Archive written;
    if (!archive.reading()) own.model->pass_events(written);
    std::vector<std::byte> bytes = written.bytes();
    archive(bytes);
    if (!archive.reading()) continue;
    Archive read(std::move(bytes));
    own.model->pass_events(read);
  }
}

void WholeEvents::take_over(Archive& archive) {
  for (const Own& own : own_) {
    std::vector<std::byte> bytes;
    archive(bytes);
    Archive read(std::move(bytes));
    own.model->take_over(read);
  }
}

/// Whose it is.
const WholeEvents::Own& WholeEvents::with(std::size_t indicator) const {
  return *std::prev(std::ranges::upper_bound(own_, indicator, {}, &Own::first));
}

bool WholeEvents::is_decisive(std::size_t i, bool beyond) {
  const Own& own = with(i);
  return own.model->is_decisive(i - own.first, beyond, point_.time(),
                                point_.states_of(own.subsystem), point_.inputs_of(own.subsystem));
}

std::string WholeEvents::text_of(std::size_t i) const {
  const Own& own = with(i);
  return own.model->text_of(i - own.first);
}

double WholeEvents::next_time() const {
  double earliest = std::numeric_limits<double>::infinity();
  for (const Own& own : own_) {
    earliest = std::min(earliest, own.model->next_time_event());
  }
  return earliest;
}

EventPoint WholeEvents::seen_by(const Own& own, const EventPoint& point) const {
  EventPoint result{point.t, point_.inputs_of(own.subsystem), point_.motion_of(own.subsystem),
                    point.slack};
  if (point.certain && *point.certain >= own.first) {
    result.certain = *point.certain - own.first;
  }
  result.inside = point.inside;
  return result;
}

void WholeEvents::discrete_slopes(std::span<const double> discrete, std::span<double> f,
                                  std::span<double> g) {
  std::ranges::fill(f, 0.0);
  std::ranges::fill(g, 0.0);
  for (const Own& own : own_) {
    const std::size_t k = own.subsystem;
    const IndexRange states = subsystems_.states_of(k), outputs = subsystems_.outputs_of(k);
    own.model->discrete_slopes(point_.time(), point_.states_of(k), point_.inputs_of(k),
                               discrete.subspan(own.first_discrete, own.model->discrete_count()),
                               f.subspan(states.first, states.size()),
                               g.subspan(outputs.first, outputs.size()));
  }
}

void WholeEvents::discrete_indicator_slopes(std::span<const double> discrete,
                                            std::span<double> slopes) {
  for (const Own& own : own_) {
    own.model->discrete_indicator_slopes(
        point_.time(), point_.states_of(own.subsystem), point_.inputs_of(own.subsystem),
        discrete.subspan(own.first_discrete, own.model->discrete_count()),
        slopes.subspan(own.first, own.model->indicator_count()));
  }
}

void WholeEvents::begin_instant() {
  for (Own& own : own_) own.model->begin_instant();
}

void WholeEvents::forget_jumps() {
  for (Own& own : own_) own.jumps_seen = 0;
}

bool WholeEvents::settle(const EventPoint& point, std::vector<Happening>& what) {
  bool changed = false;
  for (const Own& own : own_) {
    const std::size_t before = what.size();
    changed =
        own.model->settle(seen_by(own, point), point_.states_of(own.subsystem), what) || changed;
    for (std::size_t i = before; i < what.size(); ++i) {
      what[i].part = own.subsystem;
    }
  }
  return changed;
}

bool WholeEvents::happen(const EventPoint& point, std::span<double> x,
                         std::vector<Happening>& what) {
  bool changed = false;
  std::vector<Happening> happened;
  for (const Own& own : own_) {
    const IndexRange states = subsystems_.states_of(own.subsystem);
    happened.clear();
    changed =
        own.model->happen(seen_by(own, point), x.subspan(states.first, states.size()), happened) ||
        changed;
    for (Happening& one : happened) {
      what.push_back({own.subsystem, std::move(one.what)});
    }
  }
  return changed;
}

}  // namespace concord
