#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "subsystem/isolated/calls.hpp"
#include "subsystem/isolated/recipe.hpp"
#include "subsystem/message.hpp"

namespace concord {

/// A subsystem that another process calls by messages. Most of its members are arguments and
/// results of these calls, kept for their storage only.
class HostedSubsystem {
 public:
  /// Who makes it otherwise than its recipe does.
  struct Maker {
    std::function<SubsystemInterface()> describe;
    std::function<std::unique_ptr<Subsystem>(const Recipe&)> make;
  };

  HostedSubsystem() = default;
  explicit HostedSubsystem(Maker maker) : maker_(std::move(maker)) {}

  struct Answer {
    std::span<const std::byte> bytes;
    bool goes_on = true;  ///< false: nothing here may be called any more
  };
  /// Valid until the next call.
  Answer answer_to(std::span<const std::byte> request);

 private:
  void answer(RemoteFunction function, MessageReader& asked);
  void answer_without(RemoteFunction function, MessageReader& asked);
  void answer_about_model(RemoteFunction function, MessageReader& asked);
  void make(MessageReader& asked);
  static Recipe read_recipe(std::vector<std::byte> written);
  template <class Told>
  void tell(Told told);
  OdeModel& model() const;
  TextPorts& text_ports() const;
  void read_inputs(MessageReader& asked);
  void read_states_and_inputs(MessageReader& asked);
  static void ensure_size(std::size_t size, std::size_t wanted, const char* what);
  void ensure_states(std::size_t size) const;
  void ensure_inputs(std::size_t size) const;
  template <class... Results>
  void reply(Outcome outcome, const Results&... results);
  template <class... Results>
  void done(const Results&... results) {
    reply(Outcome::ok, results...);
  }
  void put_status(Ending ending);
  void fail(Ending ending, const std::string& words);
  void advance(MessageReader& asked);
  void follow(MessageReader& asked);
  void answer_there(RemoteFunction function, MessageReader& asked);
  void point_outputs(MessageReader& asked);
  void output_curvatures(MessageReader& asked);
  void linearize(MessageReader& asked);
  void happen(MessageReader& asked);
  void answer_about_events(RemoteFunction function, MessageReader& asked);
  void write_memory();
  void read_memory(MessageReader& asked);
  void start_from(MessageReader& asked);

  std::optional<Maker> maker_;
  Recipe recipe_;
  std::vector<std::byte> made_from_;  ///< the recipe's text
  std::shared_ptr<CallLog> log_;      ///< counts the calls of this process
  std::unique_ptr<Subsystem> subsystem_;
  bool started_ = false;
  MessageWriter answer_;
  std::vector<std::byte> memory_;
  std::vector<char> fed_, looked_at_;
  std::vector<Polynomial> polynomials_;
  std::vector<Sample> inputs_, outputs_;
  std::vector<double> x_, u_, dxdt_, dudt_, shares_, errors_, result_;
  Linearization linearization_, known_;
  std::vector<Happening> happened_;
};

}  // namespace concord
