#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "modelfile/fmu/lone_fmu.hpp"

namespace concord {

/// `concord run x.fmu` in the words of FMI tools (--start-value k 2, --output-interval 0.01).
struct FmuWords {
  LoneFmu fmu;
  std::filesystem::path output_file;  ///< CSV of the results; may be empty
  std::vector<std::string> output_variables;
  /// The command line without these words; what Concord has options for is among its options.
  std::vector<std::string> arguments;
};

/// Reads and takes out the words from the command line of an FMU alone. Throws InputError, which
/// names the word, the value and what is allowed.
FmuWords read_fmu_words(const std::vector<std::string>& arguments);

/// How many values follow the word at `at`; nothing where it is none of these.
std::optional<std::size_t> fmu_word_values(const std::vector<std::string>& arguments,
                                           std::size_t at);

/// The words, one per line with their meaning, for the help text.
std::string fmu_words_help();

/// "; on a model file it is -cosim_stop" of "--stop-time"; empty for what is none of these words.
std::string instead_of_fmu_word(const std::string& word);

/// Their names, "--start-time" first.
std::vector<std::string> fmu_word_names();

}  // namespace concord
