#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "expression/expression_graph.hpp"

namespace concord {

/// What changes at an instant where expressions move continuously: whether `left` is less than
/// `right` (less; with less_equal also where they are the same), whether they are the same (equal),
/// or which whole number is the largest that is not above `left` (floor).
struct Relation {
  enum class Kind { less, less_equal, equal, floor };
  Kind kind;
  Expression left, right;  ///< floor: left only
  std::string text;        ///< as in the expression it comes from; empty: nobody is told
};

/// Takes relations out of expressions, so that what remains is smooth: each becomes a variable that
/// is constant between events (Cellier and Kofman 2006, chapter 9). With r a relation's variable,
///
///     abs(a) = r ? a : -a,   min(a, b) = r ? a : b,   sign(a) = r1 - r2,   mod(a, b) = a - b r,
///     ...
///
/// What stands in no_event(...) stays as it is, as do relations of what moves at events only.
class Relations {
 public:
  /// Whether the value of that name moves between events.
  using Moves = std::function<bool(const std::string& name)>;

  explicit Relations(Moves moves) : moves_(std::move(moves)) {}

  struct Smooth {
    Expression tree;
    bool moves;  ///< between events
  };

  /// The expression without its relations.
  Smooth taken_out_of(const Expression& tree);

  const std::vector<Relation>& all() const { return relations_; }

  /// Nobody is told of relations from this one on.
  void keep_quiet(std::size_t from) {
    for (; from < relations_.size(); ++from) relations_[from].text.clear();
  }

  /// The name that stands for relation i; no name that a user can write.
  static std::string name(std::size_t i) { return "#" + std::to_string(i); }

 private:
  Smooth leaf(const Expression& tree) const;
  Smooth rebuilt(const Expression& tree, const std::vector<Smooth>& arguments);
  Expression smooth(const ExpressionNode& node, const std::vector<Expression>& arguments,
                    const std::string& text);
  Expression smallest(const std::vector<Expression>& arguments, bool largest,
                      const std::string& text);
  Expression variable(Relation::Kind kind, Expression left, Expression right, std::string text);
  Expression floor(const Expression& a, const std::string& text);
  Expression ceil(const Expression& a, const std::string& text);
  Expression towards_zero(const Expression& a, Expression positive, Expression negative,
                          const std::string& text);

  Moves moves_;
  std::vector<Relation> relations_;
  std::unordered_map<std::string, std::size_t> known_;
};

/// The expression as text, with the brackets that it needs.
std::string in_words(const Expression& tree);

}  // namespace concord
