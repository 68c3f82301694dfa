#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "network/network.hpp"

namespace concord {

/// Kind of what stands for a group of subsystems (-cosim_paces auto): what is within keeps the
/// names, and its place in results, that it has without.
inline constexpr const char* kind_of_group = "group";

inline bool is_group(const SubsystemDescription& description) {
  return description.kind == kind_of_group;
}

/// "left.x"
std::string whole_name(const SubsystemDescription& owner, const std::string& variable);

/// An input as the model file has it: one of the network's, or one within a group, that an output
/// of the network feeds.
struct WrittenInput {
  std::size_t input = 0;
  std::optional<Link> within{};
};

/// A subsystem as the model file has it, and where it is in the network.
struct WrittenPart {
  const SubsystemEntry* entry = nullptr;
  std::size_t subsystem = 0;  ///< of the network, that it is or is within
  int group = 0;              ///< which one it is within, from 1; 0: none
  IndexRange outputs, states;
  std::vector<WrittenInput> inputs;
};

/// All, in the order of the model file. They point into the model.
std::vector<WrittenPart> written_parts(const Model& model, const Network& network);

/// Their entries alone.
std::vector<const SubsystemEntry*> written_entries(const Model& model);

/// Variables in the order of the model file, and what they are in the network. Nothing is kept of
/// models without groups, where both are the same.
class WrittenVariables {
 public:
  WrittenVariables(const Model& model, const Network& network);

  const std::vector<std::string>& output_names() const {
    return grouped_ ? outputs_.names : network_.output_names();
  }
  const std::vector<std::string>& state_names() const {
    return grouped_ ? states_.names : network_.state_names();
  }
  const std::vector<std::string>& input_names() const {
    return grouped_ ? inputs_.names : network_.input_names();
  }

  std::size_t output(std::size_t i) const { return grouped_ ? outputs_.places[i] : i; }
  std::size_t state(std::size_t i) const { return grouped_ ? states_.places[i] : i; }
  WrittenInput input(std::size_t i) const {
    return grouped_ ? inputs_.places[i] : WrittenInput{i, {}};
  }

 private:
  template <class Place>
  struct Variables {
    std::vector<std::string> names;
    std::vector<Place> places;
  };

  const Network& network_;
  bool grouped_ = false;
  Variables<std::size_t> outputs_, states_;
  Variables<WrittenInput> inputs_;
};

}  // namespace concord
