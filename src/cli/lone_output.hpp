#pragma once

#include <string>
#include <vector>

#include "cli/fmu_words.hpp"
#include "network/model.hpp"

namespace concord {

/// The results of an FMU alone once more as CSV, under the FMU's own names.
class LoneOutput {
 public:
  /// What `words` ask for; nothing without --output-file. Throws InputError for variables that are
  /// not recorded and files that cannot be written.
  LoneOutput(const FmuWords& words, const Model& model);

  /// From the results file, on the first rank.
  void write() const;

 private:
  std::string owner_;  ///< "name."
  std::string results_, file_;
  std::vector<std::string> variables_;
};

}  // namespace concord
