#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/model_command.hpp"
#include "concord/simulation.hpp"
#include "studies/asked_runs.hpp"
#include "studies/differences.hpp"
#include "studies/model_numbers.hpp"

namespace concord {

/// A model file that is run many times in memory, with other numbers each time.
class StudyModel {
 public:
  /// `add`: what else belongs to every model. Throws InputError.
  StudyModel(const ModelFileCall& call, std::function<void(Model&)> add);

  /// The model with other numbers.
  const ModelSource& source() const { return source_; }
  const std::string& name() const { return name_; }

  /// The number that the model has by that name, as far as it is described.
  std::optional<double> known(const std::string& name) const;
  /// The number of that name, from which differences go. Throws InputError for one that is not
  /// known: `option` says how it is given.
  Varied number(const std::string& name, const std::string& option) const;
  /// The same with a value of one's own.
  Varied number(const std::string& name, double value) const;

 private:
  ModelSource source_;
  std::string name_;
  std::map<std::string, ModelNumber> numbers_;
};

/// Throws InputError where a name is there twice: `option` is how they are given.
void require_once(std::vector<std::string> names, const std::string& option);

/// Runs whose differences are to tell something, and how exact they are.
struct ExactRuns {
  std::unique_ptr<AskedRuns> runs;
  /// As they estimate it, in units of a signal's range; NaN where nobody knows.
  double error() const;
  /// "43, errors up to 1e-10 of a signal's range", as they estimate them themselves.
  std::string in_words() const;
};

/// Runs of the model with the command line's options. Where these don't say how exactly, they are
/// as exact as the run at `point` allows: to 1e-10, else 1e-8, else 1e-6 of each signal's range.
/// Throws what that run has failed with, and InputError for files that runs would write.
/// Collective.
ExactRuns exact_runs(const ModelFileCall& call, const std::string& command, const StudyModel& model,
                     const std::vector<std::string>& names, const std::vector<double>& point,
                     const Questions& questions);

}  // namespace concord
