#pragma once

#include <span>
#include <vector>

#include "coupling/points/loop_factors.hpp"
#include "network/rank_network.hpp"

namespace concord {

/// How inputs that fit each other follow the states: of u = P g(x, u), (I - P g_u) du = P g_x dx.
///
/// For a RankNetwork that holds every subsystem. The unknown of a direct constraint is an input
/// like any other: what it is corrected to is connected back to its guess.
class InputElimination {
 public:
  /// g_x and g_u of one subsystem, row-major.
  struct OutputDerivatives {
    std::span<const double> g_x, g_u;
  };

  explicit InputElimination(const RankNetwork& subsystems);

  /// Of all subsystems, in their order. False where the direct feedthrough is singular.
  bool take(std::span<const OutputDerivatives> of);

  /// du of all inputs, 0 for those that nothing feeds, where state `state` of subsystem k moves by
  /// one; `of` as taken.
  void follow(std::span<const OutputDerivatives> of, std::size_t k, std::size_t state,
              std::span<double> du);

  /// The same where an input that nothing feeds, local index, moves by one.
  void follow_input(std::span<const OutputDerivatives> of, std::size_t input, std::span<double> du);

  /// The same where outputs, local indices, move by `dy` beside what follows from that.
  void follow_outputs(std::span<const double> dy, std::span<double> du);

 private:
  struct Row {           ///< a connected input
    std::size_t input;   ///< local index
    std::size_t output;  ///< of the subsystem that feeds it, its own index
    std::size_t local_output;
    double factor;
  };
  struct Entry {  ///< of I - P g_u
    std::size_t place;
    std::size_t subsystem;
    std::size_t derivative;  ///< place in its g_u
    double factor;
  };

  void find_rows(const RankNetwork& subsystems);
  void find_entries(const RankNetwork& subsystems);
  bool move(std::size_t k, std::span<const double> by, std::size_t count, std::size_t place);
  void put_out(std::span<double> du);

  std::vector<Row> rows_;
  std::vector<std::vector<std::size_t>> fed_by_;  ///< rows per subsystem
  std::vector<std::size_t> n_states_;             ///< per subsystem
  std::vector<IndexRange> inputs_of_;             ///< likewise
  std::vector<std::size_t> row_starts_{0}, columns_;
  std::vector<std::size_t> diagonal_;  ///< places
  std::vector<Entry> entries_;
  std::vector<double> values_, right_, solution_;
  LoopFactors factors_;
};

}  // namespace concord
