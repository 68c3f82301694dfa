#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "expression/expression_tree.hpp"

namespace concord {

class MapFunction;

/// A function that a model defines: drag(v): 0.5*rho*v*abs(v), or a map.
struct UserFunction {
  std::string name;
  std::vector<std::string> arguments;  ///< at least one
  std::string location;
  Expression body;  ///< of its arguments, parameters, and calls; null: a map
  std::shared_ptr<const MapFunction> map = {};
  /// Names of parameters that its value depends on, those of functions that it calls included.
  std::set<std::string> parameters = {};
  std::size_t depth = 1;  ///< of calls, its own among them
};

/// "drag(v)"
std::string in_words(const UserFunction& function);

/// The functions that a model, or one subsystem of it, has of its own.
class UserFunctions {
 public:
  const UserFunction* find(const std::string& name) const;
  std::vector<std::string> names() const;

  /// False where one of that name is there already.
  bool add(UserFunction function);
  void set_body(const std::string& name, Expression body);

  /// Once all are there: finds their parameters. Throws InputError where some call each other in a
  /// circle.
  void complete();

  /// Whether a parameter of that name is in some body.
  bool use(const std::string& parameter) const;

  /// What parameters of these names mean in bodies, in their place.
  void replace_parameters(const std::map<std::string, double>& values);

 private:
  void complete(UserFunction& function, std::vector<std::string>& path);

  std::map<std::string, UserFunction> all_;
  std::set<std::string> complete_;
};

/// The one of that name; null where there is none, or are no functions.
const UserFunction* find_own(const UserFunctions* functions, const std::string& name);

/// "unknown function 'sine'; did you mean ...", beside those that every expression has.
std::string unknown_function(const std::string& name, const UserFunctions* own);

}  // namespace concord
