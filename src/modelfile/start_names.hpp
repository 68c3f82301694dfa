#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "expression/vector_index.hpp"
#include "network/start_problem.hpp"

namespace concord {

/// What equations at the start may name, by whole names. A name means the state of that name, else
/// the output, the input, the parameter of equations.
class StartNames {
 public:
  explicit StartNames(const Model& model);

  /// The variable within, where the name is that of a system's input or output.
  std::string within(std::string name) const;

  std::optional<StartQuantity> find(const std::string& name) const;
  /// Of a vector; nothing where the name is none.
  std::optional<VectorShape> shape(const std::string& name) const;

  /// What is there beside a name that is not: "known names: ...".
  std::string suggestion(const std::string& name) const;

  /// "(K)/s" of a rate; empty: none.
  std::string unit(const StartQuantity& what) const;

  /// Why it cannot be free; empty: it can.
  std::string why_bound(const StartQuantity& what) const;

 private:
  /// "cell[3]" and "x" of "cell[3].x", of a subsystem that is there.
  struct Place {
    const SubsystemEntry* entry;
    std::size_t subsystem;
    std::string variable;
  };
  std::optional<Place> place_of(const std::string& name) const;

  const Model& model_;
  std::unordered_map<std::string, std::size_t> subsystems_;
  std::unordered_map<std::string, std::string> terminals_;
  std::unordered_set<std::string> fed_;  ///< inputs
};

}  // namespace concord
