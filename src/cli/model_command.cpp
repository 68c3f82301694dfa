#include "cli/model_command.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "cli/fmu_words.hpp"
#include "cli/measured_efforts.hpp"
#include "cli/session.hpp"
#include "cli/signal_weights_option.hpp"
#include "cli/start_time.hpp"
#include "cli/written_files.hpp"
#include "concord/errors.hpp"
#include "modelfile/model_file.hpp"
#include "modelfile/parameters_file.hpp"
#include "modelfile/scenario/scenario_connections.hpp"
#include "settings/option_table.hpp"
#include "support/agreement.hpp"
#include "support/options.hpp"
#include "support/options_file.hpp"
#include "support/petsc.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// Of the command's own, with one dash or two.
const CommandWord* own_word(const Command& command, const std::string& text) {
  const std::size_t dashes = text.find_first_not_of('-');
  if (dashes != 1 && dashes != 2) return nullptr;
  const auto found =
      std::find_if(command.words.begin(), command.words.end(), [&](const CommandWord& word) {
        const bool letter = word.letter != 0 && dashes == 1 && text.size() == 2;
        return text.compare(dashes, text.npos, word.name) == 0 ||
               (letter && text[1] == word.letter);
      });
  return found == command.words.end() ? nullptr : &*found;
}

/// -cosim_monitor and -cosim_monitor true.
bool is_flag(const std::string& option) {
  const auto& table = option_table();
  return std::any_of(table.begin(), table.end(), [&](const OptionSpec& spec) {
    return spec.flag && "-" + spec.name == option;
  });
}

bool is_truth(const std::string& text) {
  constexpr const char* truths[] = {"true", "false", "yes", "no", "on", "off", "1", "0"};
  return std::find(std::begin(truths), std::end(truths), text) != std::end(truths);
}

/// How many words after the one at `at`, which begins with a dash, belong to it.
std::size_t values_behind(const Arguments& arguments, std::size_t at, const Command& command) {
  if (const CommandWord* own = own_word(command, arguments[at])) return *own->value != '\0' ? 1 : 0;
  if (const auto values = fmu_word_values(arguments, at)) return *values;
  if (at + 1 == arguments.size() || is_option_name(arguments[at + 1])) return 0;
  return is_flag(arguments[at]) && !is_truth(arguments[at + 1]) ? 0 : 1;
}

/// MODEL, the first word that is neither an option nor the value of one, goes behind the command.
Arguments with_model_first(Arguments arguments, const Command& command) {
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    if (is_option_name(arguments[i])) {
      i += values_behind(arguments, i, command);
      continue;
    }
    const auto model = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(arguments.begin() + 2, model, model + 1);
    break;
  }
  return arguments;
}

/// `concord run MODEL -options`: the model file, then options only.
std::string model_argument(const Arguments& arguments) {
  const std::string& command = arguments[1];
  if (arguments.size() < 3 || arguments[2].starts_with('-'))
    throw InputError("concord " + command + " needs a model file: concord " + command +
                     " MODEL [-options]" +
                     (arguments.size() < 3 ? "" : "; found '" + arguments[2] + "' in its place"));
  if (arguments.size() > 3 && !arguments[3].starts_with('-'))
    throw InputError("concord " + command + ": found '" + arguments[3] +
                     "' after the model file; only options (-name value) may follow");
  return arguments[2];
}

/// The command that has this word.
std::string owner_of(const std::string& text) {
  for (const Command* command : commands())
    if (own_word(*command, text) != nullptr)
      return "; " + text + " belongs to concord " + command->name;
  return "";
}

/// Words with two dashes: the command's own, else a mistake.
void refuse_unknown_words(const Arguments& arguments, std::vector<std::string> known) {
  for (const std::string& text : arguments) {
    if (!text.starts_with("--") || !is_option_name(text) ||
        std::find(known.begin(), known.end(), text) != known.end())
      continue;
    for (const OptionSpec& option : option_table()) known.push_back("-" + option.name);
    const auto similar = nearest(text, known);
    throw InputError("unknown option " + text +
                     (similar ? "; did you mean " + *similar + "?" : ".") +
                     " Options have one dash, see concord run --help-all" + owner_of(text) +
                     instead_of_fmu_word(text));
  }
}

/// What the options leave open of an FMU alone: nothing is coupled, and rows are as far apart as
/// the FMU prefers.
void choose_lone_defaults(const Model& model) {
  constexpr double rows = 500.0;
  if (model.subsystems.size() > 1) return;  // a scenario's, which are coupled with it
  if (!options::has("cosim_type")) options::set("cosim_type", "jacobi");
  if (options::has("cosim_step") || options::has("cosim_adapt")) return;
  const double start = options::real("cosim_start").value_or(model.start);
  const double stop = options::real("cosim_stop").value_or(model.stop);
  const double wanted = (stop - start) / rows, preferred = preferred_step(model);
  const double step = preferred > 0.0 && preferred < stop - start ? preferred : wanted;
  if (!(step > 0.0)) return;
  options::set("cosim_step", exact_number(step));
  const bool rows_given = options::has("cosim_record_every") ||
                          options::has("cosim_output_interval") ||
                          options::has("cosim_output_times");
  if (step < wanted && !rows_given)
    options::set("cosim_record_every", std::to_string(static_cast<long>(wanted / step)));
}

/// What follows MODEL without being an option, or an option's value, leaves `arguments`.
std::vector<std::string> take_more(const Command& command, Arguments& arguments) {
  constexpr std::size_t behind_model = 3;
  std::vector<std::string> more;
  Arguments others(arguments.begin(), arguments.begin() + std::min(behind_model, arguments.size()));
  for (std::size_t i = behind_model; i < arguments.size(); ++i) {
    if (!is_option_name(arguments[i])) {
      more.push_back(arguments[i]);
      continue;
    }
    const std::size_t last =
        std::min(i + values_behind(arguments, i, command), arguments.size() - 1);
    others.insert(others.end(), arguments.begin() + i, arguments.begin() + last + 1);
    i = last;
  }
  arguments = std::move(others);
  return more;
}

/// The command's own words leave `arguments`, with their values.
GivenWords take_own_words(const Command& command, Arguments& arguments) {
  GivenWords own;
  if (command.more != nullptr) own.words[command.more] = take_more(command, arguments);
  Arguments others;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const CommandWord* word = own_word(command, arguments[i]);
    if (word == nullptr) {
      others.push_back(arguments[i]);
      continue;
    }
    const bool valued = *word->value != '\0';
    if (valued && i + 1 == arguments.size())
      refuse_words(command, "option --" + std::string(word->name) + " needs a value");
    own.words[word->name].push_back(valued ? arguments[++i] : "");
  }
  arguments = std::move(others);
  return own;
}

/// The command line, sorted out before there is a session.
struct SortedWords {
  Arguments arguments;  ///< MODEL and PETSc's options
  GivenWords own;
  std::optional<FmuWords> fmu;
};

SortedWords sorted(const Command& command, const Arguments& given) {
  SortedWords result;
  result.arguments = with_model_first(given, command);
  std::vector<std::string> known;
  for (const CommandWord& word : command.words) known.push_back(std::string("--") + word.name);
  const bool is_lone_fmu = result.arguments.size() > 2 && is_fmu(result.arguments[2]);
  if (is_lone_fmu) {
    const auto names = fmu_word_names();
    known.insert(known.end(), names.begin(), names.end());
  }
  refuse_unknown_words(result.arguments, known);
  result.own = take_own_words(command, result.arguments);
  if (is_lone_fmu) {
    result.fmu = read_fmu_words(result.arguments);
    result.arguments = result.fmu->arguments;
  }
  return result;
}

Model read_model(const SortedWords& words) {
  const std::string path = model_argument(words.arguments);
  if (!words.fmu) return read_model(path, words.own, words.own.all("set"));
  if (const ModelChanges changes = changes_in(words.own, words.own.all("set")); !changes.empty())
    throw InputError(changes.front().location +
                     ": an FMU alone takes --start-value NAME VALUE instead");
  Model model = read_lone_fmu(words.fmu->fmu);
  connect_scenario(model);
  require_apart({{"--output-file", words.fmu->output_file.string()}}, model);
  require_words_apart(words.own, model);
  return model;
}

/// Runs `work` in a session with what stands on the command line.
int with_words(const Command& command, const Arguments& arguments,
               const std::function<int(const SortedWords&)>& work) {
  SortedWords words;
  std::exception_ptr wrong;
  try {
    words = sorted(command, arguments);
  } catch (const InputError&) {
    wrong = std::current_exception();  // told in the session, once for all ranks
    words.arguments = {arguments[0], arguments[1]};
  }
  ProgramArguments left(words.arguments);
  return in_session(left.count(), left.pointers(), [&] {
    if (wrong) std::rethrow_exception(wrong);
    return work(words);
  });
}

/// On every rank.
Model model_of(const SortedWords& words) {
  choose_start_time();
  Model model;
  together(PETSC_COMM_WORLD, [&] {
    model = read_model(words);
    require_apart({{"-cosim_fmu_calls", options::text("cosim_fmu_calls").value_or("")}}, model);
  });
  if (words.fmu)
    choose_lone_defaults(model);
  else
    take_measured_efforts(model, PETSC_COMM_WORLD);
  take_signal_weights(model, PETSC_COMM_WORLD);
  return model;
}

}  // namespace

/// Of files first, so that single ones on the command line count.
ModelChanges changes_in(const GivenWords& own, const std::vector<std::string>& set) {
  ModelChanges result;
  for (const std::string& file : own.all("parameters"))
    for (ModelChange& change : read_parameters_file(file)) result.push_back(std::move(change));
  for (ModelChange& change : read_changes(set)) result.push_back(std::move(change));
  return result;
}

std::vector<CommandWord> words_of_models(std::vector<CommandWord> others) {
  others.push_back({.name = "set",
                    .value = "left.m=2",
                    .help = "a parameter or start value other than the model's,\n"
                            "parameters.g=1.6 of the whole model, cell[*].k=5 of many; as\n"
                            "often as wanted"});
  others.push_back(
      {.name = "parameters",
       .value = "FILE",
       .help = "many of them: YAML, a parameter set of SSP (.ssv), or CSV with\nlines left.m,2"});
  return others;
}

std::optional<double> time_in(const GivenWords& own, const std::string& command) {
  const auto text = own.value("time");
  if (!text) return std::nullopt;
  const auto time = parse_number(*text);
  if (!time || !std::isfinite(*time)) {
    throw InputError("concord " + command + ": --time " + in_quotes(*text) +
                     " must be a time in seconds");
  }
  return time;
}

std::optional<long> whole_number(const GivenWords& own, const std::string& command,
                                 const std::string& name, long smallest) {
  const auto text = own.value(name);
  if (!text) return std::nullopt;
  const auto number = parse_number(*text);
  constexpr double largest = 1e9;
  if (!number || *number != std::floor(*number) || *number < static_cast<double>(smallest) ||
      *number > largest)
    throw InputError("concord " + command + ": --" + name + " " + in_quotes(*text) +
                     " must be a whole number from " + std::to_string(smallest) + " on");
  return static_cast<long>(*number);
}

Model read_model(const std::string& path, const GivenWords& own,
                 const std::vector<std::string>& set) {
  Model model = read_model_file(path, changes_in(own, set));
  for (const std::string& file : own.all("parameters"))
    model.files.push_back({"file of parameters", file});
  require_words_apart(own, model);
  return model;
}

void take_option_files(Model& model, MPI_Comm comm) {
  take_measured_efforts(model, comm);
  take_signal_weights(model, comm);
}

int with_model_file(const Command& command, const Arguments& arguments,
                    const std::function<int(ModelFileCall)>& work) {
  return with_words(command, arguments, [&](const SortedWords& words) {
    const std::string path = model_argument(words.arguments);
    if (words.fmu)
      throw InputError("concord " + std::string(command.name) + " takes no FMU alone, '" + path +
                       "'; give a model file that has it as a subsystem");
    choose_start_time();
    return work({path, joined(arguments, " "), words.own});
  });
}

int with_model(const Command& command, const Arguments& arguments,
               const std::function<int(ModelCall)>& work) {
  return with_words(command, arguments, [&](const SortedWords& words) {
    return work(
        {model_of(words), joined(arguments, " "), words.fmu ? &*words.fmu : nullptr, words.own});
  });
}

void with_model_inside(const Command& command, const Arguments& arguments,
                       const std::function<void(ModelCall)>& work) {
  const SortedWords words = sorted(command, arguments);
  inside_session(words.arguments, [&] {
    work({model_of(words), joined(arguments, " "), words.fmu ? &*words.fmu : nullptr, words.own});
  });
}

}  // namespace concord
