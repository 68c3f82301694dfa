#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "expression/expression_tree.hpp"
#include "expression/map_function.hpp"
#include "expression/user_functions.hpp"

namespace concord {

/// Writes functions of one's own out where they are called, so that derivatives, events and
/// whatever else is asked about an expression follow as if it had been written so. An argument that
/// is more than a name or a number gets a name, which no user can write, so that expressions grow
/// as the calls do and no faster.
class FunctionCalls {
 public:
  /// Whether what gets a name stands in no_event(...).
  enum class Events { yes, none };
  using Define =
      std::function<void(const std::string& name, const Expression& meaning, Events events)>;

  /// An argument of a map in the unit of the map's input; `text`: where it stands.
  using InUnit = std::function<Expression(const Expression& argument, const MapData::Input& input,
                                          const PlacedExpression& text)>;

  /// `define` takes the names and what they mean, each once, those first that others use. `prefix`:
  /// of their numbers.
  FunctionCalls(const UserFunctions& functions, Define define, std::string prefix = "")
      : functions_(functions), define_(std::move(define)), prefix_(std::move(prefix)) {}

  /// Without it arguments are taken as they are.
  void convert_arguments(InUnit in_unit) { in_unit_ = std::move(in_unit); }

  /// The expression without calls of these functions. `events`: none where it stands as if in
  /// no_event(...). Throws InputError where they are too many.
  Expression written_out(const Expression& tree, const PlacedExpression& text,
                         Events events = Events::yes);

 private:
  using Bound = std::unordered_map<std::string, Expression>;

  Expression with_bound(const Expression& tree, const Bound& bound);
  Expression called(const UserFunction& function, const std::vector<Expression>& arguments);
  Expression named(const std::string& name, const Expression& meaning);

  const UserFunctions& functions_;
  Define define_;
  InUnit in_unit_;
  std::string prefix_;
  const PlacedExpression* text_ = nullptr;  ///< that is being written out
  std::size_t count_ = 0, first_ = 0;       ///< calls; those before this text
  std::size_t in_no_event_ = 0;             ///< of how many the calls are arguments
  /// Of what has a name: its words, apart from those in no_event(...).
  std::map<std::pair<Events, std::string>, Expression> named_;
};

}  // namespace concord
