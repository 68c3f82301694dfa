#include "coupling/estimates/undecided_events.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "coupling/estimates/error_propagation.hpp"
#include "coupling/estimates/hold_errors.hpp"
#include "support/agreement.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// Times the estimate that a true error may be.
constexpr double sure = 3.0;

}  // namespace

UndecidedEvents::UndecidedEvents(RankNetwork& subsystems) : subsystems_(subsystems) {}

/// Some subsystems know only when they have started that they have events.
void UndecidedEvents::note(const CommunicationPoint& point) {
  std::size_t place = 0;
  for (const std::size_t k : subsystems_.all()) {
    if (!subsystems_.own(k).description().events) continue;
    while (place < own_.size() && own_[place].subsystem < k) ++place;
    const IndexRange inputs = subsystems_.inputs_of(k);
    const auto own_inputs = std::span(point.inputs).subspan(inputs.first, inputs.size());
    auto* const teller = dynamic_cast<TellsGrazes*>(&subsystems_.own(k));
    std::vector<Graze> grazes;
    if (teller != nullptr) subsystems_.asking(k, [&] { grazes = teller->grazes(own_inputs); });
    if (grazes.empty()) continue;
    if (place == own_.size() || own_[place].subsystem != k) {
      own_.insert(own_.begin() + static_cast<std::ptrdiff_t>(place), Own{k, {}, {}});
    }
    for (Graze& graze : grazes) own_[place].noted.push_back(std::move(graze));
  }
}

/// Beside what inputs are wrong by where the interval ends: what holds miss within macro-steps, at
/// most about twice its mean, and what they miss at the ends.
double UndecidedEvents::given_wrongly(std::size_t k, const Graze& graze,
                                      const HoldErrors& holds) const {
  constexpr double of_mean = 2.0;
  const auto& connected = subsystems_.connected_inputs();
  const IndexRange inputs = subsystems_.inputs_of(k);
  double error = 0.0;
  for (auto j = std::lower_bound(connected.begin(), connected.end(), inputs.first);
       j != connected.end() && *j < inputs.last; ++j) {
    const auto c = static_cast<std::size_t>(j - connected.begin());
    error +=
        graze.by_inputs[*j - inputs.first] *
        std::max({of_mean * holds.largest()[c], std::abs(holds.at_end()[c]), holds.missed()[c]});
  }
  return error;
}

void UndecidedEvents::judge(const HoldErrors& holds, const ErrorPropagation* propagation) {
  for (Own& own : own_) {
    for (const Graze& graze : own.noted) {
      double error = graze.noise + sure * given_wrongly(own.subsystem, graze, holds);
      if (propagation != nullptr) error += sure * propagation->error_of(own.subsystem, graze);
      if (!(graze.margin <= error)) continue;
      own.share = std::min(own.share, graze.margin / error);
      if (own.count++ > 0) continue;
      own.first = in_quotes(subsystems_.own(own.subsystem).description().name) + " (" + graze.what +
                  ") came within " + short_number(graze.margin) +
                  " at t = " + short_number(graze.time) + " s, known to " + short_number(error);
    }
    own.noted.clear();
  }
}

std::string UndecidedEvents::told() const {
  constexpr std::size_t enough = 300;
  std::string text;
  double count = 0.0;
  for (const Own& own : own_) {
    count += static_cast<double>(own.count);
    if (own.count > 0 && text.size() < enough) text += ", subsystem " + own.first;
  }
  const MPI_Comm comm = subsystems_.comm();
  const auto all = std::llround(agree_on_sum(comm, count));
  const std::string first = joined_texts(comm, text);
  if (all == 0) return "";
  return first.substr(2) + (all > 1 ? " (" + std::to_string(all) + " times in all)" : "");
}

void UndecidedEvents::io(Archive& archive) {
  std::vector<Own> passed;
  auto next = own_.begin();
  for (const std::size_t k : subsystems_.all()) {
    archive.within(k, [&] {
      bool any = next != own_.end() && next->subsystem == k;
      CONCORD_MEMBERS(archive, any);
      if (!any) return;
      Own own = archive.reading() ? Own{k, {}, {}} : *next++;
      CONCORD_MEMBERS(archive, own.noted, own.first, own.count, own.share);
      passed.push_back(std::move(own));
    });
  }
  own_ = std::move(passed);
}

double UndecidedEvents::deciding_share() const {
  double share = 1.0;
  for (const Own& own : own_) share = std::min(share, own.share);
  return -agree_on_largest(subsystems_.comm(), -share);
}

}  // namespace concord
