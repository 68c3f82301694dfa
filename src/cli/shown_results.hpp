#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "concord/api.hpp"

namespace concord {

class ResultsReader;

/// A results file, or a table, as pictures and reports read it, which are made in Python.
/// Everything that is wrong is an InputError.
class CONCORD_API ShownResults {
 public:
  /// Throws UnreadableResults, too.
  explicit ShownResults(const std::string& path);
  ~ShownResults();
  ShownResults(ShownResults&&) noexcept;

  std::string model_name() const;
  std::string status() const;
  /// Rows, s.
  std::span<const double> time() const;

  struct Variable {
    std::string name, unit;  ///< to show it in
  };
  /// Those that names or patterns stand for; all of them without any.
  std::vector<Variable> chosen(const std::vector<std::string>& wanted) const;
  /// The same; without any the outputs, or what is recorded in their place.
  std::vector<Variable> shown(const std::vector<std::string>& wanted) const;

  struct Curve {
    std::string unit;
    std::vector<double> values;  ///< [time]
  };
  struct Curves {
    std::vector<double> time;  ///< s; that of an event twice
    std::map<std::string, Curve> of;
  };
  /// `wanted`: units are taken where they can be; what is not there is left out. `range`: only this
  /// time, s, and the next row on either side; at least `least` points in it.
  Curves curves(const std::vector<Variable>& wanted, std::optional<std::pair<double, double>> range,
                std::size_t least) const;

  struct Happening {
    double time;  ///< s
    std::string subsystem, what;
  };
  std::vector<Happening> events() const;
  /// Subsystems and what they have cost, s, in the model file's order.
  std::vector<std::pair<std::string, double>> costs() const;

  /// A dataset, and an attribute, by name: empty, or not a number, where the file has none.
  std::vector<double> numbers(const std::string& path) const;
  std::vector<std::string> texts(const std::string& path) const;
  std::string text(const std::string& attribute) const;
  double number(const std::string& attribute) const;

 private:
  std::unique_ptr<ResultsReader> results_;
};

/// Whether a run is writing the results file at `path`.
CONCORD_API bool goes_on(const std::string& path);

/// "left.x,cell[1,2].*"
CONCORD_API std::vector<std::string> names_in(const std::string& list);

/// In place of a picture, at once; any other file stays. Throws InputError.
CONCORD_API void write_picture(const std::string& path, const std::string& bytes);

/// In place of a text. Throws InputError.
CONCORD_API void write_shown_text(const std::string& path, const std::string& text);

}  // namespace concord
