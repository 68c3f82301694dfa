#pragma once

#include <string>
#include <vector>

#include "expression/expression_graph.hpp"
#include "modelfile/yaml/node_reader.hpp"

namespace concord {

/// One round of `repeat: {i: [1, 1000]}`.
struct Repetition {
  std::string index;
  long value;
};

/// All rounds, ends included. Throws InputError.
std::vector<Repetition> repetitions(const NodeReader& node, const Constants& constants);

/// A text with expressions in brackets, which name the index of a repetition, read once for all
/// rounds: "cell[i+1].y[i,2]" is "cell[3].y[2,2]" in the second one; ':' and '*' stay.
class IndexedText {
 public:
  /// `place` is for error messages. Throws InputError, as `in` does.
  IndexedText(const std::string& text, const std::string& index, const Constants& constants,
              const std::string& place);

  /// With the indices of a round as whole numbers.
  std::string in(const Repetition& round);

 private:
  /// What stands before an index, and the index; null: there is none, or it stays.
  struct Piece {
    std::string before, text;
    Expression index;
  };
  void add_indices(const std::string& text);
  void add_index(const std::string& text);

  ExpressionNames names_;
  std::string place_, before_;  ///< what is behind the last index
  std::vector<Piece> pieces_;
};

}  // namespace concord
