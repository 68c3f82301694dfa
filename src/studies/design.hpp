#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace concord {

/// Which values the runs of a sweep have, as the command line or a file says them.
struct Design {
  std::vector<std::string> names;              ///< "left.m"
  std::vector<std::vector<std::string>> runs;  ///< a value per name each
};

/// What a design is made of.
struct DesignWords {
  std::vector<std::string> set = {};                  ///< "left.m=1,2,5"
  std::optional<std::filesystem::path> samples = {};  ///< CSV: a header of names, a row a run
  std::optional<std::size_t> latin = {};              ///< runs of the Latin hypercube
  std::uint64_t seed = 1;                             ///< of the hypercube
};

/// The values that "1,2,5" or "linspace(10, 100, 10)" stands for, or several of these between
/// commas: range(first, last, step) and linspace(first, last, count), logspace the same with a
/// constant factor, ends included; everything else is a value itself, whatever it is. Throws
/// InputError with `location`.
std::vector<std::string> listed_values(const std::string& text, const std::string& location);

/// Every combination of the rows of the file, of the points of the hypercube, and of the values of
/// each of `set`; what comes last varies fastest. In a Latin hypercube (McKay, Beckman, Conover
/// 1979) of n points each of n equal parts of each range, uniform(a, b), or loguniform(a, b) by the
/// logarithm, has one point; the same seed gives the same points on every machine. Throws
/// InputError.
Design make_design(const DesignWords& words);

}  // namespace concord
