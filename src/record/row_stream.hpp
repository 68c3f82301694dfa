#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/row_exchange.hpp"
#include "record/stream_address.hpp"
#include "record/stream_sets.hpp"
#include "simulation/simulation_core.hpp"

namespace concord {

/// -cosim_stream: sends the chosen variables at each accepted communication point to whoever
/// watches, as JSON over ZeroMQ (doc/results.md), and takes what they set (-cosim_stream_set). Who
/// is slow misses rows: nobody is waited for.
class RowStream : public StepObserver {
 public:
  /// Collective. Throws InputError where no variable has such a name, or the address cannot be
  /// used. Both must outlive it.
  RowStream(SimulationCore& simulation, StreamSets& sets);
  ~RowStream() override;

  /// Of the first rank: where to watch.
  const StreamAddress& address() const;

  /// The point at which the run begins. Collective.
  void start();
  void step_accepted(const StepReport& report) override;
  /// Between macro-steps: what those who watch have set since. Collective.
  void take_wishes();
  /// The last word.
  void end(std::string_view status, int exit_code);

 private:
  class Sender;
  enum class Kind { output, state, input };
  struct Source {
    Kind kind;
    std::size_t index;             ///< in this rank's own
    std::optional<Link> within{};  ///< of an input within a group, whose index is that of an output
  };
  void choose();
  void send(double time, const CommunicationPoint& point, std::span<const double> states,
            std::span<const EventReport> events, const LeftLimits* left);
  std::span<const double> whole_row(std::span<const Sample> outputs, std::span<const Sample> inputs,
                                    std::span<const double> states);
  nlohmann::json told(std::span<const EventReport> events) const;

  SimulationCore& simulation_;
  StreamSets& sets_;
  RecordedColumns columns_;
  std::vector<Source> sources_;  ///< of this rank's columns
  std::optional<RowExchange> exchange_;
  std::vector<double> own_, states_;
  bool wants_states_ = false;
  std::size_t rows_ = 0, events_ = 0;
  std::unique_ptr<Sender> sender_;  ///< on the first rank
};

}  // namespace concord
