#include "cli/export_options.hpp"

#include <getopt.h>

#include <array>

#include "concord/errors.hpp"
#include "files/archive_writer.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// The options of one command, read by getopt.
class ExportWords {
 public:
  ExportWords(int argc, char** argv)
      : command_(argv[1]), remedy_("; see 'concord " + command_ + " --help'") {
    words_.emplace_back("concord " + command_);
    words_.insert(words_.end(), argv + 2, argv + argc);
  }

  /// The names that are no options.
  std::vector<std::string> read(ExportOptions& options, bool is_fmu);
  [[noreturn]] void fail(const std::string& problem) const { throw InputError(problem + remedy_); }

 private:
  void take(int option, const std::string& word, ExportOptions& options) const;

  std::string command_, remedy_;
  std::vector<std::string> words_;
};

std::vector<std::string> ExportWords::read(ExportOptions& options, bool is_fmu) {
  const std::array<option, 4> of_fmu{{{"output", required_argument, nullptr, 'o'},
                                      {"fmi", required_argument, nullptr, 'f'},
                                      {"no-binary", no_argument, nullptr, 'n'},
                                      {nullptr, 0, nullptr, 0}}};
  const std::array<option, 2> of_ssp{{of_fmu[0], of_fmu[3]}};
  std::vector<char*> argv;
  for (std::string& word : words_) argv.push_back(word.data());
  argv.push_back(nullptr);
  optind = 0;
  opterr = 0;
  const int argc = static_cast<int>(words_.size());
  const option* known = is_fmu ? of_fmu.data() : of_ssp.data();
  for (int found = 0; (found = getopt_long(argc, argv.data(), ":o:", known, nullptr)) != -1;)
    take(found, argv[optind - 1], options);
  return {argv.begin() + optind, argv.end() - 1};
}

void ExportWords::take(int option, const std::string& word, ExportOptions& options) const {
  switch (option) {
    case 'o':
      options.output = optarg;
      break;
    case 'f':
      if (std::string(optarg) != "2" && std::string(optarg) != "3")
        fail("--fmi takes 2 or 3, not " + in_quotes(optarg));
      options.version = *optarg == '2' ? FmiVersion::v2 : FmiVersion::v3;
      break;
    case 'n':
      options.binary = ExportedBinary::leave_out;
      break;
    case ':':
      fail("option '" + word + "' of 'concord " + command_ + "' needs a value");
    default:
      fail("'concord " + command_ + "' has no option '" + word + "'");
  }
}

void check_output(const ExportOptions& options, const ExportWords& words,
                  std::initializer_list<const char*> endings) {
  bool fits = false;
  std::string wanted;
  for (const char* ending : endings) {
    fits = fits || options.output.extension() == ending;
    wanted += (wanted.empty() ? "" : " or ") + std::string(ending);
  }
  if (!fits) words.fail(in_quotes(options.output.string()) + " does not end in " + wanted);
  if (same_file(options.output, options.model))
    words.fail("-o names the model " + in_quotes(options.model) + " itself; choose another file");
}

}  // namespace

ExportOptions parse_export_fmu(int argc, char** argv) {
  ExportOptions options;
  ExportWords words(argc, argv);
  const auto names = words.read(options, true);
  if (names.size() != 2)
    words.fail("'concord export-fmu' takes a model file and the name of one of its subsystems");
  options.model = names[0];
  options.subsystem = names[1];
  if (options.output.empty()) options.output = options.subsystem + ".fmu";
  check_output(options, words, {".fmu"});
  return options;
}

ExportOptions parse_export_ssp(int argc, char** argv) {
  ExportOptions options;
  ExportWords words(argc, argv);
  const auto names = words.read(options, false);
  if (names.size() != 1) words.fail("'concord export-ssp' takes one model file");
  options.model = names[0];
  if (options.output.empty())
    options.output = std::filesystem::path(options.model).stem().string() + ".ssp";
  check_output(options, words, {".ssp", ".ssd"});
  return options;
}

}  // namespace concord
