#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "concord/subsystem.hpp"
#include "expression/expression_graph.hpp"
#include "expression/function_calls.hpp"
#include "expression/relations.hpp"
#include "subsystem/equations/equations_description.hpp"

namespace concord {

/// The names that texts use, and those that variables and functions among them stand for.
class NamesBehind {
 public:
  explicit NamesBehind(const EquationsDescription& description);
  std::set<std::string> operator()(const std::string& text) const;

  /// Those in the text itself, and what functions that it calls take from around them.
  std::vector<std::string> direct(const std::string& text) const;

  /// The names, with the variables that use any of them, directly or by way of others.
  std::unordered_set<std::string> with_users(std::unordered_set<std::string> names) const;

  /// Null for what is no variable.
  const std::string* text_of(const std::string& variable) const;

 private:
  std::unordered_map<std::string, const std::string*> variables_;
  const UserFunctions* functions_;
};

/// Where the variables of compiled expressions stand: t, states, inputs, discrete variables,
/// relations.
struct EquationPlaces {
  std::size_t states = 0, inputs = 0, discrete = 0, relations = 0;

  std::size_t moving() const { return 1 + states + inputs; }
  std::size_t held() const { return discrete + relations; }
  std::size_t all() const { return moving() + held(); }
};

/// A condition that acts when it becomes true, or at ticks.
struct EquationCondition {
  struct Set {
    bool state;         ///< else a discrete variable
    std::size_t index;  ///< of it
    std::string words;  ///< "model.yaml:7: set of 'h'"
  };

  std::string text;
  std::optional<double> every;  ///< s, at offset + n every; else a condition
  double offset = 0.0;
  bool initially = false;  ///< acts at the start, too, where it is true there
  std::vector<Set> sets;
};

/// The expressions of a description, smooth between events: a relation is a variable that events
/// change (Relations::name).
class SmoothEquations {
 public:
  /// The description must outlive it. Throws InputError for expressions that cannot be read, and
  /// for variables that use each other in a loop. `part`: of actual in homotopy(actual,
  /// simplified); relations are those of actual, whatever it is.
  explicit SmoothEquations(const EquationsDescription& description, double part = 1.0);
  SmoothEquations(const SmoothEquations&) = delete;
  SmoothEquations& operator=(const SmoothEquations&) = delete;

  /// Variables as they are placed, parameters as constants; definitions are smooth too.
  const ExpressionNames& names() const { return names_; }
  const EquationPlaces& places() const { return places_; }
  const std::vector<Expression>& derivatives() const { return derivatives_; }  ///< as the states
  const std::vector<Expression>& outputs() const { return outputs_; }
  /// Of each condition itself (of ticks none) and its sets.
  const std::vector<Expression>& whens() const { return whens_; }
  const std::vector<EquationCondition>& conditions() const { return conditions_; }
  const std::vector<Relation>& relations() const { return relations_.all(); }
  bool has_homotopy() const { return has_homotopy_; }

  /// Held where it moves with nothing that moves between events, but with something that changes.
  SignalKind kind(const Expression& output) const;

  /// Whether the relation moves with t alone and linearly, by its form: what else is in it changes
  /// at events only. `names`: those of the equations, with parameters as constants or, behind all
  /// others, as variables.
  bool linear_in_time(const Relation& relation, const ExpressionNames& names) const;

 private:
  void find_moving();
  void define(const std::string& name, const Expression& meaning, FunctionCalls::Events events);
  Expression written_out(const Expression& tree, const PlacedExpression& text,
                         FunctionCalls::Events events = FunctionCalls::Events::yes);
  Relations::Smooth without_relations(const Expression& tree);
  Expression in_unit(const Expression& argument, const MapData::Input& input,
                     const PlacedExpression& text) const;
  Expression smooth(const PlacedExpression& text, const std::string& unit = "");
  void smooth_variables();
  Expression as_it_is(const PlacedExpression& text);
  void read_when(const EquationsDescription::When& when);

  const EquationsDescription& description_;
  double part_;
  bool has_homotopy_ = false;
  ExpressionNames names_;
  std::unordered_map<std::string, std::string> units_;
  std::unordered_set<std::string> moving_;  ///< names whose values move between events
  Relations relations_;
  std::optional<FunctionCalls> calls_;  ///< of functions of one's own, where there are some
  std::vector<Expression> derivatives_, outputs_, whens_;
  std::vector<EquationCondition> conditions_;
  EquationPlaces places_;
};

}  // namespace concord
