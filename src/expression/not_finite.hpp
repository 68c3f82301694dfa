#pragma once

#include <functional>
#include <string>

#include "expression/expression_graph.hpp"

namespace concord {

/// Why an expression is no finite number: "F/m is inf where F = 1, m = 0"; empty where it is one.
/// Names mean what `names` says; `value` gives those of variables.
std::string why_not_finite(const Expression& tree, const ExpressionNames& names,
                           const std::function<double(const std::string&)>& value);

}  // namespace concord
