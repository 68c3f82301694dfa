#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "concord/shared_list.hpp"
#include "support/shared_text.hpp"

namespace concord {

class UserFunctions;

/// An ODE as its user wrote it: names, values and expressions with where they stand
/// ("two_mass.yaml:12").
struct EquationsDescription {
  struct Number {
    std::string name;
    std::optional<double> value;  ///< only an input may lack it
    SharedText location;
  };
  struct Text {
    std::string name;
    std::string text;
    SharedText location;
  };

  /// At the instant at which the condition becomes true, or at offset + n every, s: states and
  /// discrete variables get other values, all at once.
  struct When {
    std::string condition;
    std::optional<double> every;
    double offset = 0.0;
    bool initially = false;  ///< a condition that is true at the start acts there, too
    std::vector<Text> sets;
    SharedText location;
    std::string says = {};  ///< in /events, in the place of what its relations say; empty: nothing
  };

  std::string subsystem;  ///< empty: locations say whose they are
  SharedText location;
  SharedList<Number> parameters, inputs, states;
  SharedList<Text> derivatives;  ///< one per state, in any order
  SharedList<Text> outputs;
  SharedList<Text> variables = {};   ///< names of expressions, usable in every expression
  SharedList<Number> discrete = {};  ///< change at events only, where conditions set them
  SharedList<When> whens = {};
  SharedList<Text> units;           ///< of parameters, inputs, states and outputs by name
  SharedList<Text> display = {};    ///< units to show them in, by name
  SharedList<Number> nominal = {};  ///< of inputs, states and outputs by name
  /// That expressions may call; null: none.
  std::shared_ptr<const UserFunctions> functions = {};
};

}  // namespace concord
