#pragma once

#include <string>
#include <vector>

#include "network/network.hpp"

namespace concord {

/// How much `concord check` prints of a model: every line, or, of many that are alike, the first
/// ones and how many there are.
class CheckListing {
 public:
  /// Models of up to `few` subsystems are printed whole.
  CheckListing(const Model& model, const Network& network, bool everything);

  void print_subsystems() const;
  void print_connections() const;
  void print_feedthrough() const;
  void print_order() const;
  /// Equations at the start, and what is free there, where there are some.
  void print_initial() const;

  /// "cell[1], cell[2], cell[3] and 997 more"; "none".
  std::string list(const std::vector<std::string>& names) const;

  static constexpr std::size_t few = 50;

 private:
  void print_lines(const std::vector<std::string>& lines, const char* what) const;
  std::vector<std::string> loops() const;

  const Model& model_;
  const Network& network_;
  bool everything_;
};

}  // namespace concord
