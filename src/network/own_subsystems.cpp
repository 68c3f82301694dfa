#include "network/own_subsystems.hpp"

#include "concord/errors.hpp"
#include "subsystem/slow_steps.hpp"
#include "support/exception_words.hpp"

namespace concord {

OwnSubsystems::OwnSubsystems(const Model& model, std::span<const std::size_t> own,
                             const SettingsList& settings) {
  for (const std::size_t g : own) {
    auto subsystem = model.subsystems[g].create(settings[g]);
    subsystems_.push_back(settings[g].slow.macro_steps > 1
                              ? in_slow_steps(std::move(subsystem), settings[g].slow)
                              : std::move(subsystem));
    const auto& description = subsystems_.back()->description();
    names_.push_back(description.name);
    if (description.capabilities.rollback) {
      with_rollback_.push_back(count() - 1);
    }
  }
}

void OwnSubsystems::start(const MacroStep& first, double stop) {
  for (std::size_t k = 0; k < count(); ++k) {
    attempt(k, [&] { subsystems_[k]->start(first, stop); });
  }
  for (std::size_t k = 0; k < beginnings_.size(); ++k) {
    if (const auto& from = beginnings_[k]) {
      guarded(k, [&](Subsystem& subsystem) {
        return subsystem.start_from(from->t, from->x, from->memory) ? Outcome::ok : Outcome::failed;
      });
    }
  }
  beginnings_.clear();
}

void OwnSubsystems::save(WorkClock& clock) {
  for (const std::size_t k : with_rollback_) {
    const WorkScope timed(clock, k, Work::rollback);
    attempt(k, [&] { subsystems_[k]->save(); });
  }
}

void OwnSubsystems::restore(WorkClock& clock) {
  for (const std::size_t k : with_rollback_) {
    const WorkScope timed(clock, k, Work::rollback);
    attempt(k, [&] { subsystems_[k]->restore(); });
  }
}

/// What belongs to code that has crashed is left as it is.
void OwnSubsystems::end() {
  for (std::size_t k = last_counters_.size(); k < subsystems_.size(); ++k) {
    last_counters_.push_back(subsystems_[k]->counters());
    if (!foreign_code_has_ended()) {
      try {
        surviving([&] { subsystems_[k].reset(); });
      } catch (...) {
        fatal_ = std::current_exception();
        failed_ = k;
      }
    }
    if (foreign_code_has_ended()) {
      static_cast<void>(subsystems_[k].release());
    }
  }
}

/// In a catch block.
std::string OwnSubsystems::threw_when_asked(std::size_t k) {
  suspicion_ = std::current_exception();
  suspect_ = k;
  if (foreign_code_has_ended()) {
    fatal_ = suspicion_;
    failed_ = k;
  }
  return in_words(suspicion_);
}

bool OwnSubsystems::asks_for_end() const {
  try {
    if (fatal_) {
      std::rethrow_exception(fatal_);
    }
  } catch (const EndOfSimulation&) {
    return true;
  } catch (...) {
    return false;
  }
  return false;
}

/// A foreign end names its subsystem itself.
std::optional<std::string> OwnSubsystems::failure() const {
  if (!failed_) {
    return std::nullopt;
  }
  const std::string place = "subsystem '" + names_[*failed_] + "': ";
  if (!fatal_) {
    return place + subsystems_[*failed_]->failure();
  }
  try {
    std::rethrow_exception(fatal_);
  } catch (const ForeignEnd& end) {
    return end.what();
  } catch (...) {
    return place + in_words(fatal_);
  }
}

}  // namespace concord
