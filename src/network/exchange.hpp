#pragma once

#include <span>
#include <vector>

#include "concord/polynomial.hpp"
#include "network/network.hpp"
#include "support/petsc.hpp"

namespace concord {

/// Applies the dispatch P of a rank's share: u = P y. Links within the rank are plain copies, the
/// others one message per pair of ranks (PetscSF).
class Exchange {
 public:
  /// `input_local`, `output_local`: position of each global input and output in its owner's arrays.
  Exchange(MPI_Comm comm, const Network& network, const Partition& partition,
           std::span<const std::size_t> input_local, std::span<const std::size_t> output_local);

  /// Sets the connected entries of `inputs`, leaves the others. Collective where ranks are linked.
  void apply(std::span<const Sample> outputs, std::span<Sample> inputs);

  /// Sets at least `wanted`, own connected inputs. Collective like `apply`.
  void apply(std::span<const Sample> outputs, std::span<const std::size_t> wanted,
             std::span<Sample> inputs);

  /// Whether any input of any rank is fed from another rank.
  bool crosses_ranks() const { return crosses_ranks_; }

 private:
  struct LocalLink {
    std::size_t input;
    Link link;  ///< from a local output, or a position in the message buffer
  };
  static void copy(const LocalLink& link, std::span<const Sample> from, std::span<Sample> to);
  static void copy(const std::vector<LocalLink>& links, std::span<const Sample> from,
                   std::span<Sample> to);

  std::vector<LocalLink> local_;  ///< in the order of inputs
  std::vector<LocalLink> remote_;
  std::vector<Sample> received_;
  SfHandle messages_;
  bool crosses_ranks_ = false;
};

}  // namespace concord
