#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "network/network.hpp"
#include "network/own_subsystems.hpp"
#include "network/rank_layout.hpp"
#include "network/touched.hpp"
#include "subsystem/text_ports.hpp"

namespace concord {

/// Texts and bytes of a rank's subsystems at the last communication point, and their way to those
/// that they are connected with. Only in networks that have some.
class TextExchange {
 public:
  /// `own` must outlive it.
  TextExchange(MPI_Comm comm, const Model& model, const Network& network,
               const Partition& partition, const RankLayout& layout, OwnSubsystems& own);

  /// At a communication point: what subsystems put out there is taken by those that it feeds, which
  /// are touched where that is something else than before. Whether any was, on any rank. Throws
  /// SimulationError on every rank. Collective.
  bool exchange(Touched& touched);
  /// Before the first exchange at an instant.
  void begin_instant();

  /// Of own subsystem k, as they were exchanged last; what they have been since the instant began;
  /// and how often each has become another, or has been put out where it is clocked.
  std::span<const std::string> outputs(std::size_t k) const { return parts_[k].outputs; }
  std::span<const Texts> at_instant(std::size_t k) const { return parts_[k].at_instant; }
  std::span<const std::uint64_t> changes(std::size_t k) const { return parts_[k].changes; }

  void io(Archive& archive);

 private:
  /// Of one own subsystem.
  struct Part {
    const TextInterface* type = nullptr;
    std::vector<std::string> outputs;
    std::vector<Texts> at_instant;       ///< messages of clocked outputs since it began
    std::vector<Texts> fresh, inputs;    ///< scratch: what is new of outputs and for inputs
    std::vector<std::uint64_t> changes;  ///< of outputs, so far
    bool known = false;                  ///< the outputs have been read

    void io(Archive& archive) { CONCORD_MEMBERS(archive, outputs, changes, known); }
  };
  /// Within the rank.
  struct OwnLink {
    TextEnd from, to;  ///< own subsystems
  };
  /// Another rank: what it is sent, and what it sends, in the order of the network's links.
  struct Neighbour {
    int rank = 0;
    std::vector<TextEnd> sent, received;
    std::vector<char> message;
  };

  void read_outputs();
  void read_outputs_of(std::size_t k);
  Neighbour& neighbour(int rank);
  void pack(Neighbour& to) const;
  void unpack(const Neighbour& from, std::span<const char> message);
  void send_and_receive();
  bool feed(Touched& touched);
  bool agreed(bool changed) const;

  MPI_Comm comm_;
  OwnSubsystems& own_;
  std::vector<Part> parts_;
  std::vector<OwnLink> within_;
  std::vector<Neighbour> neighbours_;
};

}  // namespace concord
