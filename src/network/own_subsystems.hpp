#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "network/model.hpp"
#include "support/foreign_call.hpp"
#include "support/work_clock.hpp"

namespace concord {

/// Settings of each subsystem of the model, by position.
using SettingsList = std::vector<SubsystemSettings>;

/// Where a subsystem of another run stood, see Subsystem::start_from.
struct Beginning {
  double t = 0.0;
  std::vector<double> x;
  std::vector<std::byte> memory;

  void io(Archive& archive) { CONCORD_MEMBERS(archive, t, x, memory); }
};

/// The subsystems that a rank owns, and what became of calls to them.
///
/// An exception out of a subsystem is kept and reported as a failure, so that the other ranks don't
/// wait; so is a crash of its code. Once a subsystem has thrown, none is called any more.
class OwnSubsystems {
 public:
  /// `own`: positions in the model.
  OwnSubsystems(const Model& model, std::span<const std::size_t> own, const SettingsList& settings);
  ~OwnSubsystems() { end(); }
  OwnSubsystems(const OwnSubsystems&) = delete;
  OwnSubsystems& operator=(const OwnSubsystems&) = delete;

  std::size_t count() const { return subsystems_.size(); }
  Subsystem& operator[](std::size_t k) { return *subsystems_[k]; }
  const Subsystem& operator[](std::size_t k) const { return *subsystems_[k]; }
  const std::string& name(std::size_t k) const { return names_[k]; }

  /// Before the start, of all: begin elsewhere than at their start values.
  void start_from(std::vector<std::optional<Beginning>> beginnings) {
    beginnings_ = std::move(beginnings);
  }
  void start(const MacroStep& first, double stop);

  /// `work` on subsystem k, which it may move on.
  template <class Work>
  void attempt(const std::size_t& k, const Work& work) {
    if (fatal_) [[unlikely]] {
      return;
    }
    try {
      surviving(work);
    } catch (...) {
      fatal_ = suspicion_ && suspect_ == k ? suspicion_ : std::current_exception();
      failed_ = k;
    }
  }

  /// The same with an outcome.
  template <class Call>
  Outcome guarded(std::size_t k, const Call& call) {
    Outcome outcome = Outcome::failed;
    attempt(k, [&] { outcome = judged(k, call(*subsystems_[k])); });
    return fatal_ ? Outcome::failed : outcome;
  }

  /// Calls `work`, which asks subsystem k what it would do elsewhere; its failure in words where it
  /// throws. Should k throw again when it must act, this was the reason.
  template <class Work>
  std::optional<std::string> asking(std::size_t k, const Work& work) {
    if (fatal_) [[unlikely]] {
      return failure();
    }
    try {
      surviving(work);
      return std::nullopt;
    } catch (...) {
      return threw_when_asked(k);
    }
  }

  /// Within `attempt`: takes note of what a call to k has come to.
  Outcome judged(std::size_t k, Outcome outcome) {
    if (outcome != Outcome::ok) [[unlikely]] {
      failed_ = k;
    } else {
      failed_ = failed_ == k ? std::nullopt : failed_;
      suspicion_ = suspect_ == k ? nullptr : suspicion_;
    }
    return outcome;
  }

  /// Failures that a smaller step may cure count no more.
  void forget_failure() {
    if (!fatal_) {
      failed_.reset();
    }
  }

  /// Whether no smaller step will help; and whether that was EndOfSimulation.
  bool fatal() const { return fatal_ != nullptr; }
  bool asks_for_end() const;

  /// "subsystem 'left': ..." of the one whose last call has failed, or nothing.
  std::optional<std::string> failure() const;

  /// Of those that offer rollback.
  void save(WorkClock& clock);
  void restore(WorkClock& clock);

  /// What subsystem k has cost so far.
  Counters counters(std::size_t k) const {
    return k < last_counters_.size() ? last_counters_[k] : subsystems_[k]->counters();
  }

  /// Frees the subsystems, of which only names and counters are left. What fails is told by
  /// `failure`.
  void end();

 private:
  std::string threw_when_asked(std::size_t k);

  std::vector<std::unique_ptr<Subsystem>> subsystems_;
  std::vector<std::string> names_;
  std::vector<std::optional<Beginning>> beginnings_;  ///< until the start; empty: none
  std::vector<std::size_t> with_rollback_;
  std::vector<Counters> last_counters_;
  std::exception_ptr fatal_;
  std::exception_ptr suspicion_;
  std::size_t suspect_ = 0;
  std::optional<std::size_t> failed_;
};

}  // namespace concord
