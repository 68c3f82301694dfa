#include "cli/command_line.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <vector>

#include "cli/commands.hpp"
#include "cli/fmu_words.hpp"
#include "cli/lone_output.hpp"
#include "cli/measured_efforts.hpp"
#include "cli/results_commands.hpp"
#include "cli/session.hpp"
#include "concord/errors.hpp"
#include "modelfile/model_file.hpp"
#include "settings/option_table.hpp"
#include "support/agreement.hpp"
#include "support/options.hpp"
#include "support/options_file.hpp"
#include "support/petsc.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

bool is_help(const std::string& word) { return word == "--help" || word == "-h"; }

int print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return 0;
}

/// `concord run MODEL -options`: the model file, then options only.
std::string model_argument(int argc, char** argv) {
  const std::string command = argv[1];
  if (argc < 3 || argv[2][0] == '-') {
    throw InputError("concord " + command + " needs a model file: concord " + command +
                     " MODEL [-options]" +
                     (argc < 3 ? "" : "; found '" + std::string(argv[2]) + "' in its place"));
  }
  if (argc > 3 && argv[3][0] != '-') {
    throw InputError("concord " + command + ": found '" + std::string(argv[3]) +
                     "' after the model file; only options (-name value) may follow");
  }
  return argv[2];
}

bool wants_probe(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](const char* word) {
    return std::string(word) == "--probe" || std::string(word) == "-probe";
  });
}

/// Words with two dashes: the command's own, else a mistake.
void refuse_unknown_words(int argc, char** argv, std::vector<std::string> known) {
  if (std::string(argv[1]) == "check") known.emplace_back("--probe");
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--") || !is_option_name(word) ||
        std::find(known.begin(), known.end(), word) != known.end()) {
      continue;
    }
    for (const auto& option : option_table()) known.push_back("-" + option.name);
    const auto similar = nearest(word, known);
    throw InputError("unknown option " + word +
                     (similar ? "; did you mean " + *similar + "?" : ".") +
                     " Options have one dash, see concord run --help" +
                     (word == "--probe" ? "; --probe belongs to concord check" : ""));
  }
}

/// check's own word is none of the options.
std::vector<std::string> without_probe(std::vector<std::string> words) {
  if (words[1] == "check") {
    std::erase_if(words,
                  [](const std::string& word) { return word == "--probe" || word == "-probe"; });
  }
  return words;
}

/// argv of a program that outlives the session, as PETSc wants it.
class Arguments {
 public:
  explicit Arguments(std::vector<std::string> words) : words_(std::move(words)) {
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }
  int count() const { return static_cast<int>(words_.size()); }
  char** pointers() { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

bool is_lone_fmu(int argc, char** argv) { return argc > 2 && is_fmu(argv[2]); }

/// What the options leave open: nothing is coupled, and rows are as far apart as the FMU prefers.
void choose_lone_defaults(const Model& model) {
  constexpr double rows = 500.0;
  if (!options::has("cosim_type")) options::set("cosim_type", "jacobi");
  if (options::has("cosim_step") || options::has("cosim_adapt")) return;
  const double start = options::real("cosim_start").value_or(model.start);
  const double stop = options::real("cosim_stop").value_or(model.stop);
  const double wanted = (stop - start) / rows, preferred = preferred_step(model);
  const double step = preferred > 0.0 && preferred < stop - start ? preferred : wanted;
  if (!(step > 0.0)) return;
  options::set("cosim_step", exact_number(step));
  if (step < wanted && !options::has("cosim_record_every"))
    options::set("cosim_record_every", std::to_string(static_cast<long>(wanted / step)));
}

int simulate_lone_fmu(const FmuWords& words, Model model, const std::string& command_line) {
  const LoneOutput output(words, model);
  const int code = run_command(std::move(model), command_line);
  output.write();
  return code;
}

/// `concord run x.fmu`, and check and schedule.
int lone_fmu_command(int argc, char** argv) {
  const std::string command = argv[1], command_line = command_line_of(argc, argv);
  FmuWords words;
  std::exception_ptr wrong;
  try {
    refuse_unknown_words(argc, argv, fmu_word_names());
    words = read_fmu_words(argc, argv);
  } catch (const InputError&) {
    wrong = std::current_exception();  // told in the session, once for all ranks
    words.arguments = {argv[0], argv[1]};
  }
  Arguments left(without_probe(words.arguments));
  return in_session(left.count(), left.pointers(), [&] {
    if (wrong) std::rethrow_exception(wrong);
    Model model;
    together(PETSC_COMM_WORLD, [&] {
      model_argument(left.count(), left.pointers());
      model = read_lone_fmu(words.fmu);
    });
    choose_lone_defaults(model);
    if (command == "run") return simulate_lone_fmu(words, std::move(model), command_line);
    const bool probe = wants_probe(argc, argv);
    return command == "check" ? check_command(std::move(model), probe, true)
                              : schedule_command(std::move(model));
  });
}

int model_command(int argc, char** argv) {
  const std::string command = argv[1];
  Arguments options(without_probe(std::vector<std::string>(argv, argv + argc)));
  return in_session(options.count(), options.pointers(), [&] {
    refuse_unknown_words(argc, argv, {});
    Model model;
    together(PETSC_COMM_WORLD,
             [&] { model = read_model_file(model_argument(options.count(), options.pointers())); });
    take_measured_efforts(model);
    if (command == "run") {
      return run_command(std::move(model), command_line_of(argc, argv));
    }
    return command == "check" ? check_command(std::move(model), wants_probe(argc, argv), false)
                              : schedule_command(std::move(model));
  });
}

/// One rank does it; the others are there because of mpirun. A file beyond the size limit is an
/// error like a full disk.
int model_export(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);
  return in_session(argc, argv, [&] {
    int rank = 0;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    if (rank != 0) {
      return 0;
    }
    return std::string(argv[1]) == "export-fmu" ? export_fmu_command(argc, argv)
                                                : export_ssp_command(argc, argv);
  });
}

int unknown(const std::string& command) {
  if (command.empty()) {
    print(program_help());
    throw InputError("no command given");
  }
  const std::vector<std::string> known = {"run",    "check", "schedule",   "compare",
                                          "export", "plot",  "export-fmu", "export-ssp"};
  const auto similar = nearest(command, known);
  throw InputError("unknown command '" + command + "'" +
                   (similar ? "; did you mean '" + *similar + "'?" : ".") +
                   " Commands: " + joined(known) + "; see concord --help");
}

}  // namespace

std::string command_line_of(int argc, char** argv) {
  return joined(std::vector<std::string>(argv, argv + argc), " ");
}

int command_line(int argc, char** argv) {
  const std::string command = argc < 2 ? "" : argv[1];
  const std::vector<std::string> rest(argv + std::min(argc, 2), argv + argc);
  const bool help = is_help(command) || std::any_of(rest.begin(), rest.end(), is_help);
  const bool simulates = command == "run" || command == "check" || command == "schedule";
  if (simulates && !help) {
    return is_lone_fmu(argc, argv) ? lone_fmu_command(argc, argv) : model_command(argc, argv);
  }
  const bool exports = command == "export-fmu" || command == "export-ssp";
  if (exports && !help) {
    return model_export(argc, argv);
  }
  return without_session([&] {
    if (exports) {
      return print(command == "export-fmu" ? export_fmu_help() : export_ssp_help());
    }
    if (simulates) {
      return print(run_help());
    }
    if (is_help(command)) {
      return print(program_help());
    }
    if (command == "--version") {
      return print("concord " CONCORD_VERSION "\n");
    }
    if (command == "compare") {
      return compare_command(rest);
    }
    if (command == "export") {
      return export_command(rest);
    }
    return command == "plot" ? plot_command(rest) : unknown(command);
  });
}

}  // namespace concord
