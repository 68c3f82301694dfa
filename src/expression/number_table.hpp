#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace concord {

/// Numbers that expressions look up: points of a map along one of its inputs, or its coefficients.
/// An expression holds the table as a number, its handle, so that expressions which differ in their
/// tables only share what is compiled. Tables outlive the expressions that look them up.
class NumberTable {
 public:
  /// `name`: in expressions. `before`, `behind`: of places, how wide what lies beyond the numbers
  /// is thought to be.
  NumberTable(std::string name, std::vector<double> numbers, double before = 1.0,
              double behind = 1.0)
      : name_(std::move(name)), numbers_(std::move(numbers)), before_(before), behind_(behind) {}
  NumberTable(const NumberTable&) = delete;
  NumberTable& operator=(const NumberTable&) = delete;

  const std::string& name() const { return name_; }
  std::span<const double> numbers() const { return numbers_; }
  double before() const { return before_; }
  double behind() const { return behind_; }

  /// Its address, which a double holds exactly.
  double handle() const { return static_cast<double>(reinterpret_cast<std::uintptr_t>(this)); }
  static const NumberTable& of(double handle) {
    return *reinterpret_cast<const NumberTable*>(static_cast<std::uintptr_t>(handle));
  }

  /// Number `index`, where that is a whole number; NaN beyond the ends.
  double at(double index) const {
    return index >= 0.0 && index < static_cast<double>(numbers_.size())
               ? numbers_[static_cast<std::size_t>(index)]
               : not_there();
  }

  /// Where the numbers ascend: k + r for what lies behind k of them, r in (0, 1) or
  /// exactly 0 at the last of these, and linear between two numbers. Found from where it was found
  /// last, which changes nothing but the time that it takes.
  double place(double value) const;
  double place_slope(double value) const;

  /// The value itself; NaN where it lies before the first or behind the last number, by more than
  /// rounding.
  double inside(double value) const;

 private:
  static double not_there();
  std::size_t count_up_to(double value) const;

  std::string name_;
  std::vector<double> numbers_;
  double before_, behind_;
  mutable std::atomic<std::uint32_t> last_ = 0;  ///< count that was found last
};

}  // namespace concord
