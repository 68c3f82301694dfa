#include "cli/fmu_words.hpp"

#include <algorithm>
#include <cmath>

#include "concord/errors.hpp"
#include "support/options.hpp"
#include "support/options_file.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

enum class Kind { number, positive, interface, flag, start, starts, variable, variables, file };

struct Word {
  const char* name;
  Kind kind;
  const char* values;  ///< as the help shows them
  const char* help;
  const char* option = "";  ///< of Concord, that does the same; or none
};

constexpr Word known_words[] = {
    {"--start-time", Kind::number, "T", "start time in s", "-cosim_start"},
    {"--stop-time", Kind::number, "T", "stop time in s", "-cosim_stop"},
    {"--output-interval", Kind::positive, "H", "distance of the rows and of communication points",
     "-cosim_step"},
    {"--step-size", Kind::positive, "H", "distance of communication points, where it is smaller"},
    {"--tolerance", Kind::positive, "TOL", "relative tolerance", "-subsystem_rtol"},
    {"--relative-tolerance", Kind::positive, "TOL", "the same", "-subsystem_rtol"},
    {"--interface-type", Kind::interface, "me|cs|se",
     "also ModelExchange, CoSimulation, ScheduledExecution", "-subsystem_fmu_interface"},
    {"--start-value", Kind::start, "NAME VALUE",
     "of a parameter or a variable; as often as wanted"},
    {"--start-values", Kind::starts, "NAME VALUE ...", "several at once"},
    {"--input-file", Kind::file, "IN.csv", "inputs over time: linear, discrete ones held"},
    {"--output-file", Kind::file, "OUT.csv", "the results once more, as CSV"},
    {"--output-variable", Kind::variable, "NAME", "only this in the CSV; as often as wanted"},
    {"--output-variables", Kind::variables, "NAME ...", "several at once"},
    {"--debug-logging", Kind::flag, "", "the FMU's messages on stderr", "-subsystem_fmu_log"},
    {"--fmi-logging", Kind::flag, "", "the same", "-subsystem_fmu_log"}};

const Word* find_word(const std::string& text) {
  const auto* found = std::find_if(std::begin(known_words), std::end(known_words),
                                   [&](const Word& each) { return text == each.name; });
  return found == std::end(known_words) ? nullptr : found;
}

class WordReader {
 public:
  explicit WordReader(std::vector<std::string> arguments) : given_(std::move(arguments)) {}
  FmuWords read();

 private:
  [[noreturn]] static void refuse(const std::string& word, const std::string& problem) {
    throw InputError("option " + word + ": " + problem + "; see concord run --help-all");
  }
  bool has_value() const {
    return at_ < given_.size() && !given_[at_].starts_with("--") && !is_option_name(given_[at_]);
  }
  std::string value(const Word& word, const std::string& what) {
    if (!has_value()) refuse(word.name, "needs " + what);
    return given_[at_++];
  }
  void take(const Word& word);
  void take_number(const Word& word);
  void take_interface(const Word& word);
  void take_start(const Word& word);
  void pass(const char* option, const std::string& text) {
    result_.arguments.insert(result_.arguments.end(), {option, text});
  }
  void settle_steps();

  std::vector<std::string> given_;
  std::size_t at_ = 0;
  FmuWords result_;
  double interval_ = 0.0, step_ = 0.0;
};

void WordReader::take_number(const Word& word) {
  const std::string text = value(word, std::string("a number: ") + word.name + " " + word.values);
  const auto number = parse_number(text);
  if (!number) refuse(word.name, "found " + in_quotes(text) + ", but it must be a finite number");
  if (word.kind == Kind::positive && !(*number > 0.0))
    refuse(word.name, "found " + in_quotes(text) + ", but it must be greater than zero");
  const std::string name = word.name;
  if (name == "--step-size")
    step_ = *number;
  else if (name == "--output-interval")
    interval_ = *number;
  else
    pass(word.option, text);
}

void WordReader::take_interface(const Word& word) {
  constexpr const char* names[][2] = {
      {"me", "ModelExchange"}, {"cs", "CoSimulation"}, {"se", "ScheduledExecution"}};
  const std::string all = "one of: me, cs, se, ModelExchange, CoSimulation, ScheduledExecution";
  const std::string text = value(word, all);
  for (const auto& [short_name, name] : names)
    if (text == short_name || text == name) return pass(word.option, short_name);
  refuse(word.name, "found " + in_quotes(text) + ", but it must be " + all);
}

void WordReader::take_start(const Word& word) {
  const std::string name = value(word, "a name and a value: --start-value k 2");
  if (!has_value())
    refuse(word.name, "the variable " + in_quotes(name) + " has no value; write " + word.name +
                          " " + name + " <value>");
  FmuValue start;
  start.name = name;
  start.texts = {given_[at_++]};
  start.location = word.name;
  result_.fmu.start_values.push_back(std::move(start));
}

void WordReader::take(const Word& word) {
  switch (word.kind) {
    case Kind::number:
    case Kind::positive:
      return take_number(word);
    case Kind::interface:
      return take_interface(word);
    case Kind::flag:
      return pass(word.option, "true");
    case Kind::start:
      return take_start(word);
    case Kind::starts:
      do take_start(word);
      while (has_value());
      return;
    case Kind::variable:
      result_.output_variables.push_back(value(word, "the name of a variable"));
      return;
    case Kind::variables:
      do result_.output_variables.push_back(value(word, "names of variables"));
      while (has_value());
      return;
    case Kind::file:
      const std::string file = value(word, std::string("the name of a file: ") + word.values);
      (std::string(word.name) == "--input-file" ? result_.fmu.input_file : result_.output_file) =
          file;
  }
}

/// Rows lie a whole number of steps apart.
void WordReader::settle_steps() {
  if (interval_ == 0.0 && step_ == 0.0) return;
  if (interval_ == 0.0 || step_ == 0.0)
    return pass("-cosim_step", exact_number(std::max(interval_, step_)));
  const double ratio = std::nearbyint(interval_ / step_);
  if (ratio < 1.0 || std::abs(ratio * step_ - interval_) > 1e-9 * interval_)
    refuse("--output-interval", "found " + short_number(interval_) +
                                    ", but it must be a multiple of --step-size, " +
                                    short_number(step_));
  pass("-cosim_step", exact_number(step_));
  pass("-cosim_record_every", std::to_string(static_cast<long>(ratio)));
}

FmuWords WordReader::read() {
  result_.fmu.path = given_.at(2);
  for (at_ = 0; at_ < given_.size();) {
    const std::string& text = given_[at_];
    const Word* word = find_word(text);
    ++at_;
    if (word == nullptr)
      result_.arguments.push_back(text);
    else
      take(*word);
  }
  settle_steps();
  std::error_code error;
  if (!result_.output_file.empty() &&
      std::filesystem::equivalent(result_.output_file, result_.fmu.input_file, error))
    refuse("--output-file", "names the input file " + in_quotes(result_.output_file.string()) +
                                "; choose another file");
  return std::move(result_);
}

}  // namespace

FmuWords read_fmu_words(const std::vector<std::string>& arguments) {
  return WordReader(arguments).read();
}

std::optional<std::size_t> fmu_word_values(const std::vector<std::string>& arguments,
                                           std::size_t at) {
  const Word* word = find_word(arguments[at]);
  if (word == nullptr) return std::nullopt;
  const auto is_name = [](const std::string& text) { return is_option_name(text); };
  const auto behind = arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  const auto most =
      static_cast<std::size_t>(std::find_if(behind, arguments.end(), is_name) - behind);
  switch (word->kind) {
    case Kind::flag:
      return 0;
    case Kind::start:
      return std::min<std::size_t>(most, 2);
    case Kind::starts:
    case Kind::variables:
      return most;
    default:
      return std::min<std::size_t>(most, 1);
  }
}

std::string instead_of_fmu_word(const std::string& word) {
  const Word* const found = find_word(word);
  if (found == nullptr) return "";
  const bool start = found->kind == Kind::start || found->kind == Kind::starts;
  const std::string other = *found->option != '\0'          ? found->option
                            : start                         ? "--set subsystem.name=value"
                            : found->kind == Kind::positive ? "-cosim_step"
                                                            : "";
  return "; " + word + " is for an FMU alone" +
         (other.empty() ? "" : ", a model file takes " + other);
}

std::string fmu_words_help() {
  constexpr std::size_t column = 34;
  std::string text;
  for (const Word& word : known_words) {
    std::string line = std::string("  ") + word.name + " " + word.values;
    line.resize(std::max(column, line.size() + 1), ' ');
    text += line + word.help + "\n";
  }
  return text;
}

std::vector<std::string> fmu_word_names() {
  std::vector<std::string> names;
  for (const Word& word : known_words) names.emplace_back(word.name);
  return names;
}

}  // namespace concord
