#include "subsystem/equations/time_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>

namespace concord {
namespace {

/// Of smooth expressions only those of what a user has said to be smooth, by no_event.
bool has_kinks(Operation operation) {
  return (operation >= Operation::less && operation <= Operation::rem) ||
         operation == Operation::abs;
}

/// Nodes that move with time alone, and otherwise than sums and multiples of their arguments do.
std::vector<NodeId> of_time_alone(const ExpressionGraph& graph) {
  enum class Moves { never, with_time, otherwise };
  std::vector<Moves> moves;
  std::vector<NodeId> result;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Operation operation = graph[id].operation;
    const auto arguments = graph.arguments(id);
    Moves how = Moves::never;
    std::ptrdiff_t moving = 0;
    for (const NodeId argument : arguments) {
      how = std::max(how, moves[argument]);
      moving += moves[argument] != Moves::never ? 1 : 0;
    }
    if (operation == Operation::variable) {
      constexpr std::uint32_t time = 0;
      how = graph[id].arguments[0] == time ? Moves::with_time : Moves::otherwise;
    }
    if (has_kinks(operation)) how = Moves::otherwise;
    moves.push_back(how);
    const bool sum = operation == Operation::variable || operation == Operation::add ||
                     operation == Operation::subtract || operation == Operation::negate;
    const bool multiple =
        moving == 1 && (operation == Operation::multiply ||
                        (operation == Operation::divide && moves[arguments[1]] == Moves::never));
    if (how == Moves::with_time && !sum && !multiple) result.push_back(id);
  }
  return result;
}

/// A signal at equal distances, on a binary number of cells.
class Looks {
 public:
  explicit Looks(std::span<const double> values) : values_(values) {
    const auto [low, high] = std::ranges::minmax_element(values);
    little_ = 1e-9 * (*high - *low);
    if (std::ranges::all_of(values, [](double v) { return std::isfinite(v); })) {
      split(0, values.size() - 1);
    }
  }

  /// Cells at whose begin it begins to move after a rest, and at whose end it ends to.
  std::vector<std::size_t> changes_of_pace() const {
    std::vector<std::size_t> result = begins(ends_, [](std::size_t n) { return n; });
    const std::size_t last = values_.size() - 1;
    std::vector<std::size_t> mirrored;
    for (const std::size_t end : ends_) mirrored.push_back(last - end);
    std::ranges::reverse(mirrored);
    for (const std::size_t n : begins(mirrored, [last](std::size_t n) { return last - n; })) {
      result.push_back(last - n);
    }
    return result;
  }

 private:
  /// Whether the cubic through four points of it tells what the signal is from a to b.
  bool is_cubic(std::size_t a, std::size_t b) const {
    const std::size_t n = b - a;
    const std::array<std::size_t, 4> at = {a, a + n / 4, b - n / 4, b};
    std::array<double, 4> c = {values_[at[0]], values_[at[1]], values_[at[2]], values_[at[3]]};
    const auto x = [](std::size_t i) { return static_cast<double>(i); };
    for (std::size_t level = 1; level < 4; ++level) {
      for (std::size_t i = 3; i >= level; --i) c[i] = (c[i] - c[i - 1]) / x(at[i] - at[i - level]);
    }
    for (std::size_t i = a; i <= b; ++i) {
      const auto from = [&](std::size_t p) { return x(i) - x(at[p]); };
      const double cubic = c[0] + from(0) * (c[1] + from(1) * (c[2] + from(2) * c[3]));
      if (!(std::abs(values_[i] - cubic) <= little_)) return false;
    }
    return true;
  }

  /// Into parts that are cubics, or as small as such a part may be.
  void split(std::size_t a, std::size_t b) {
    constexpr std::size_t smallest = 4;
    if (ends_.empty()) ends_.push_back(a);
    if (b - a <= smallest || is_cubic(a, b)) {
      ends_.push_back(b);
      return;
    }
    const std::size_t middle = a + (b - a) / 2;
    split(a, middle);
    split(middle, b);
  }

  /// Before which the signal has been one cubic for `rest` times as long as the part is that
  /// follows: of several such parts, which become shorter towards where it moves, the last.
  template <class Place>
  std::vector<std::size_t> begins(std::span<const std::size_t> ends, const Place& place) const {
    constexpr std::size_t rest = 16;
    std::vector<std::size_t> result;
    for (std::size_t i = 1; i + 1 < ends.size(); ++i) {
      const std::size_t before = rest * (ends[i + 1] - ends[i]);
      if (before > ends[i]) continue;
      const auto [a, b] = std::minmax({place(ends[i] - before), place(ends[i])});
      if (!is_cubic(a, b)) continue;
      if (!result.empty()) {
        const auto [from, until] = std::minmax({place(result.back()), place(ends[i])});
        if (is_cubic(from, until)) result.pop_back();
      }
      result.push_back(ends[i]);
    }
    return result;
  }

  std::span<const double> values_;
  double little_;
  std::vector<std::size_t> ends_;  ///< of parts, the first one's begin before them
};

}  // namespace

TimeParts::TimeParts(const SmoothEquations& equations) {
  ExpressionGraph graph;
  const auto add = [&](const Expression& tree) {
    if (tree) graph.add(tree, equations.names());
  };
  for (const auto* trees : {&equations.derivatives(), &equations.outputs(), &equations.whens()}) {
    std::ranges::for_each(*trees, add);
  }
  for (const Relation& relation : equations.relations()) {
    add(relation.left);
    add(relation.right);
  }
  const std::vector<NodeId> parts = of_time_alone(graph);
  if (parts.empty()) return;
  std::vector<double> constants;
  parts_.emplace(std::make_shared<const Program>(graph, parts, equations.places().all(), constants),
                 constants);
}

std::vector<double> TimeParts::changes_of_pace(double from, double to, std::size_t among) {
  if (!parts_ || !(from < to)) return {};
  constexpr std::size_t work = 1 << 19, fewest = 1 << 8, most = 1 << 13;
  std::size_t cells = most;
  while (cells > fewest && cells * parts_->result_count() * among > work) cells /= 2;
  const double cell = (to - from) / static_cast<double>(cells);
  std::vector<double> result;
  for (const std::vector<double>& values : looked_at(from, cell, cells)) {
    for (const std::size_t n : Looks(values).changes_of_pace()) {
      result.push_back(from + static_cast<double>(n) * cell);
    }
  }
  return result;
}

std::vector<std::vector<double>> TimeParts::looked_at(double from, double cell, std::size_t cells) {
  std::vector<double> row(parts_->result_count());
  std::vector<std::vector<double>> result(row.size(), std::vector<double>(cells + 1));
  for (std::size_t n = 0; n <= cells; ++n) {
    parts_->variables()[0] = from + static_cast<double>(n) * cell;
    parts_->run(row);
    for (std::size_t p = 0; p < row.size(); ++p) result[p][n] = row[p];
  }
  return result;
}

}  // namespace concord
