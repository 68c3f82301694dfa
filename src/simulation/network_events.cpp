#include "simulation/network_events.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

#include "concord/errors.hpp"
#include "support/agreement.hpp"

namespace concord {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

double earliest_of_all(MPI_Comm comm, double own) { return -agree_on_largest(comm, -own); }

/// Every rank's.
void share(MPI_Comm comm, std::vector<EventReport>& what, std::size_t first) {
  std::string own;
  for (std::size_t i = first; i < what.size(); ++i) {
    own += std::to_string(what[i].subsystem) + ' ' + what[i].what + '\n';
  }
  what.resize(first);
  std::istringstream all(joined_texts(comm, own));
  for (EventReport report; all >> report.subsystem && all.get();) {
    std::getline(all, report.what);
    what.push_back(report);
  }
}

}  // namespace

void NetworkEvents::look_for_more() {
  const auto& all = subsystems_.all();
  const bool own = std::any_of(all.begin(), all.end(), [this](std::size_t k) {
    return subsystems_.own(k).description().events;
  });
  any_ = any_ || agree_on_largest(subsystems_.comm(), own ? 1 : 0) != 0;
}

double NetworkEvents::next_time() {
  if (!any()) {
    return never;
  }
  double earliest = never;
  if (const Subsystem* whole = coupling_.whole()) {
    earliest = whole->next_time_event();
  } else {
    earliest = subsystems_.next_time_event();
  }
  return earliest_of_all(subsystems_.comm(), earliest);
}

double NetworkEvents::next(std::span<const Sample> fed) {
  if (!any()) {
    return never;
  }
  double earliest = never;
  if (Subsystem* whole = coupling_.whole()) {
    earliest = whole->next_event({});
  } else {
    earliest = subsystems_.next_event(fed);
  }
  if (const Middle* middle = coupling_.middle()) {
    earliest = std::min(earliest, middle->event);
  }
  return earliest_of_all(subsystems_.comm(), earliest);
}

Outcome NetworkEvents::happen_in(Subsystem& whole, EventPass pass, double slack, bool& changed) {
  EventChange change = EventChange::nothing;
  const Outcome outcome = whole.happen(pass, {}, slack, change, happened_);
  changed = change != EventChange::nothing;
  return outcome;
}

bool NetworkEvents::pass(EventPass pass, std::span<const Sample> inputs, double slack,
                         std::vector<EventReport>& what) {
  const std::size_t before = what.size();
  bool changed = false;
  happened_.clear();
  std::optional<std::string> failure;
  Subsystem* const whole = coupling_.whole();
  Outcome outcome = Outcome::ok;
  if (auto& first = subsystems_.first_pass(); first && pass == EventPass::settle) {
    happened_ = first->waiting;
  } else if (first) {
    happened_ = std::move(first->happened);
    first.reset();
    changed = true;
  } else {
    outcome = whole != nullptr ? happen_in(*whole, pass, slack, changed)
                               : subsystems_.happen(pass, inputs, slack, changed, happened_);
  }
  if (outcome == Outcome::failed) {
    failure = whole != nullptr ? whole->failure() : subsystems_.failure();
  }
  for (const Happening& one : happened_) {
    what.push_back({subsystems_.global(one.part), one.what});
  }
  if (const auto agreed = agree_on_text(subsystems_.comm(), failure)) {
    if (agree_on_largest(subsystems_.comm(), subsystems_.asks_for_end() ? 1 : 0) != 0) {
      throw EndOfSimulation(*agreed);
    }
    throw SimulationError("at an event: " + *agreed);
  }
  if (agree_on_largest(subsystems_.comm(), changed ? 1 : 0) == 0) {
    return false;
  }
  share(subsystems_.comm(), what, before);
  return true;
}

}  // namespace concord
