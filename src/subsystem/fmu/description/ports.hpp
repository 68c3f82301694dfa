#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "subsystem/fmu/description/model_description.hpp"

namespace concord {

/// Some variables of an FMU among all of their causality, whose elements are numbers in one flat
/// array (Booleans as 0 and 1, arrays spread): they are written and read with one call per type.
class FmuPorts {
 public:
  /// The variables of one type; an enumeration's calls are those of an integer type.
  struct Group {
    FmiType type;
    std::vector<FmiReference> references;
    std::vector<std::size_t> places;     ///< of the elements, in the flat array
    bool in_a_row = true;                ///< the places are consecutive
    std::vector<std::size_t> negated{};  ///< scalars among the references; FMI 1.0
  };
  /// A variable that can be differentiated: a continuous real.
  struct Real {
    FmiReference reference;
    std::size_t first, count;  ///< elements, in the flat array
    double sign = 1.0;         ///< -1: the FMU has it negated; FMI 1.0
  };

  FmuPorts() = default;
  explicit FmuPorts(FmiVersion version) : version_(version) {}

  /// The variable's elements are at `first` and after it.
  void add(const FmiVariable& variable, std::size_t first);

  bool empty() const { return groups_.empty(); }
  std::span<const Group> groups() const { return groups_; }
  std::span<const Real> reals() const { return reals_; }
  std::span<const FmiReference> real_references() const { return real_references_; }
  std::size_t real_elements() const { return real_elements_; }
  /// Places of all elements.
  std::span<const std::size_t> places() const { return places_; }

 private:
  FmiVersion version_ = FmiVersion::v3;
  std::vector<Group> groups_;
  std::vector<Real> reals_;
  std::vector<FmiReference> real_references_;
  std::vector<std::size_t> places_;
  std::size_t real_elements_ = 0;
};

}  // namespace concord
