#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/model_command.hpp"
#include "concord/simulation.hpp"
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

/// The command line's options, for runs whose differences are to tell something: where none says
/// how exactly they are to run, to `accuracy` of each signal's range. Throws InputError for files
/// that runs would write.
Options options_of_differences(const std::string& command, const std::string& accuracy);

/// What --ranks_per_run says, 1 where nothing does. Throws InputError.
int ranks_per_run(const GivenWords& own, const std::string& command);

}  // namespace concord
