#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "expression/expression_list.hpp"
#include "network/model.hpp"
#include "studies/asked_runs.hpp"

namespace concord {

/// What a run is judged by, as its user wrote it: an expression in variables at the stop ("left.x",
/// or "final(left.x)"), in integrals over the experiment of expressions in outputs, "integral((
/// left.x - right.x)^2)", and in misfits, "misfit(data.csv)": sums over the rows of a table of
/// (variable - value)^2, each in its variable's unit.
class Cost {
 public:
  /// Throws InputError for what is wrong without the model.
  explicit Cost(const std::string& text);

  /// Adds a subsystem that has the integrals as its states, if there are some. Throws InputError
  /// for what the model does not have.
  void add_to(Model& model) const;

  /// What `value` is to be told of a run.
  const Questions& questions() const { return questions_; }
  double value(std::span<const double> answers);

 private:
  /// A function of the cost's own, as it is called.
  struct Call {
    std::string name, inside;
    std::size_t begin, end;  ///< in the text
  };
  std::optional<Call> next_call(std::size_t from) const;
  std::string named(const Call& call);
  void take_text();
  void take_names();

  std::string given_;
  std::string text_;  ///< with names in place of what was called
  std::vector<std::string> integrands_;
  Questions questions_;
  std::optional<ExpressionList> compiled_;  ///< of what is read at the stop, and of the misfits
};

}  // namespace concord
