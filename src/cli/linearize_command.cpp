#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/model_command.hpp"
#include "cli/modes_table.hpp"
#include "cli/output_file.hpp"
#include "cli/presentation.hpp"
#include "cli/transfer_views.hpp"
#include "concord/errors.hpp"
#include "files/hdf5_io.hpp"
#include "files/replaceable.hpp"
#include "simulation/linear_system.hpp"
#include "studies/balanced_truncation.hpp"
#include "studies/transfer.hpp"
#include "support/agreement.hpp"
#include "support/hdf5_error.hpp"
#include "support/name_patterns.hpp"
#include "support/petsc.hpp"
#include "support/ranks.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;

/// Row by row, as HDF5 and numpy have it.
void write_matrix(hid_t file, const char* path, const Eigen::MatrixXd& matrix) {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = matrix;
  const hsize_t shape[2] = {static_cast<hsize_t>(rows.rows()), static_cast<hsize_t>(rows.cols())};
  const Hdf5Dataspace space(hdf5_check(H5Screate_simple(2, shape, nullptr)));
  const Hdf5Dataset dataset(hdf5_check(
      H5Dcreate2(file, path, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
  if (rows.size() > 0) {
    hdf5_check(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()));
  }
}

void write_matrices(hid_t file, const std::string& group, const StateSpace& system) {
  write_matrix(file, (group + "A").c_str(), system.a);
  write_matrix(file, (group + "B").c_str(), system.b);
  write_matrix(file, (group + "C").c_str(), system.c);
  write_matrix(file, (group + "D").c_str(), system.d);
}

template <class Values>
void write_complex(hid_t file, const std::string& name, const Values& values) {
  std::vector<double> real, imaginary;
  for (const auto& value : values) {
    real.push_back(value.real());
    imaginary.push_back(value.imag());
  }
  write_dataset(file, (name + "_real").c_str(), H5T_NATIVE_DOUBLE, real);
  write_dataset(file, (name + "_imag").c_str(), H5T_NATIVE_DOUBLE, imaginary);
}

/// /path: A, B, C, D of one input and one output, its poles, zeros, and what cancels.
void write_transfer(hid_t file, const TransferPath& path) {
  create_group(file, "/path");
  write_matrices(file, "/path/", path.system);
  const PolesAndZeros found = poles_and_zeros(path.system);
  write_complex(file, "/path/poles", found.poles);
  write_complex(file, "/path/zeros", found.zeros);
  write_complex(file, "/path/cancelled", found.cancelled);
}

/// /reduced: A, B, C, D of lower order, Hankel singular values, the error and its bound.
void write_reduced(hid_t file, const ReducedSystem& reduced) {
  create_group(file, "/reduced");
  write_matrices(file, "/reduced/", reduced.system);
  const std::vector<double> hankel(reduced.hankel.begin(), reduced.hankel.end());
  write_dataset(file, "/reduced/hankel", H5T_NATIVE_DOUBLE, hankel);
  write_dataset(file, "/reduced/bound", H5T_NATIVE_DOUBLE, std::vector{reduced.bound});
  write_dataset(file, "/reduced/error", H5T_NATIVE_DOUBLE, std::vector{reduced.error});
}

void write_eigenvalues(hid_t file, const Modes& modes) {
  write_complex(file, "eigenvalues", modes.eigenvalues);
  if (modes.participation.size() > 0) {
    write_matrix(file, "participation", modes.participation);
  }
}

/// Results and checkpoints stay, too.
void refuse_replacing_others(const fs::path& path) {
  require_replaceable(path, FileContent::hdf5);
  std::error_code error;
  if (!fs::is_regular_file(path, error) || !is_hdf5_file(path)) return;
  const Hdf5Properties access = file_access();
  const Hdf5File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access));
  const bool is_system = file && H5Lexists(file, "A", H5P_DEFAULT) > 0;
  if (!is_system)
    throw InputError(in_quotes(path.string()) +
                     " holds results, a checkpoint or other data in HDF5, and no linear system; it "
                     "was left untouched: choose another file, or move it away");
}

void write_system(const fs::path& path, const std::string& model, const LinearSystem& system,
                  const Modes& modes, const TransferPath* transfer, const ReducedSystem* reduced) {
  refuse_replacing_others(path);
  const Hdf5File file = file_in_memory();
  write_attribute(file, "model_name", model);
  write_attribute(file, "time", system.time);
  write_matrices(file, "", system);
  write_dataset(file, "states", system.states);
  write_dataset(file, "inputs", system.inputs);
  write_dataset(file, "outputs", system.outputs);
  write_eigenvalues(file, modes);
  if (transfer != nullptr) write_transfer(file, *transfer);
  if (reduced != nullptr) write_reduced(file, *reduced);
  write_output_file(path, image_of(file));
}

void go_to(SimulationCore& simulation, std::optional<double> time) {
  const Settings& settings = simulation.plan().settings;
  if (time && (*time < settings.start || *time > settings.stop)) {
    throw InputError("concord linearize: --time " + short_number(*time) +
                     " s lies outside the experiment, " + short_number(settings.start) + " to " +
                     short_number(settings.stop) + " s; -cosim_stop may be later");
  }
  simulation.start();
  if (time && *time > settings.start) {
    simulation.stop_over(*time);
    while (!simulation.finished() && simulation.time() < *time) simulation.advance();
  }
}

[[noreturn]] void refuse(const std::string& problem) {
  throw InputError("concord linearize: " + problem);
}

/// The connections that --open names, "pid.y:slide.share".
std::vector<Connection> opened_in(const GivenWords& own, const Network& network) {
  std::vector<Connection> opened;
  for (const std::string& text : own.all("open")) {
    const auto colon = text.find(':');
    if (colon == text.npos)
      refuse("--open " + in_quotes(text) +
             " must name an output and the input that it feeds: " + "controller.u:motor.u");
    opened.push_back(connection_of(network, text.substr(0, colon), text.substr(colon + 1)));
    for (std::size_t i = 0; i + 1 < opened.size(); ++i)
      if (opened[i].input == opened.back().input)
        refuse("--open " + in_quotes(text) + " is there twice");
  }
  return opened;
}

Eigen::Index place_of(const std::vector<std::string>& names, const std::string& name,
                      const std::string& what) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) refuse(what + in_quotes(name) + "; " + nearest_names(name, names));
  return found - names.begin();
}

/// The one that is named, or the only one there is.
Eigen::Index chosen(const GivenWords& own, const char* word, const std::vector<std::string>& names,
                    const std::string& kind) {
  if (const auto name = own.value(word))
    return place_of(names, *name, "--" + std::string(word) + " names no " + kind + ": ");
  if (names.empty()) refuse("there is no " + kind);
  if (names.size() > 1)
    refuse("there are " + std::to_string(names.size()) + " of the kind: " + kind +
           "; say which, --" + word + " " + names.front());
  return 0;
}

constexpr const char* pictures[] = {"bode", "nyquist", "step", "poles"};

bool asks_for_pictures(const GivenWords& own) {
  return std::ranges::any_of(pictures, [&](const char* one) { return own.has(one); });
}

bool asks_for_path(const GivenWords& own) {
  return own.has("open") || own.has("from") || own.has("to") || asks_for_pictures(own);
}

/// From one input to one output: as they are named, else around the first loop that is opened.
TransferPath path_in(const GivenWords& own, const std::string& model, const Network& network,
                     const std::vector<Connection>& opened, const LinearSystem& system) {
  TransferPath path;
  path.loop = !opened.empty() && !own.has("from") && !own.has("to");
  const Eigen::Index from =
      path.loop ? place_of(system.inputs, network.input_names()[opened.front().input], "")
                : chosen(own, "from", system.inputs, "input that nothing feeds");
  const Eigen::Index to = path.loop ? static_cast<Eigen::Index>(opened.front().output)
                                    : chosen(own, "to", system.outputs, "output");
  const double factor = path.loop ? -opened.front().factor : 1.0;
  path.system = {system.a, system.b.col(from), factor * system.c.row(to),
                 factor * system.d.block(to, from, 1, 1)};
  const std::string& input = system.inputs[static_cast<std::size_t>(from)];
  const std::string& output = system.outputs[static_cast<std::size_t>(to)];
  path.title = model + (path.loop ? ": loop opened at " + output + " -> " + input + ", L = -" +
                                        output + "/" + input
                                  : ": from " + input + " to " + output);
  return path;
}

/// What the words of the command ask for, told and drawn.
class Told {
 public:
  Told(const GivenWords& own, const SimulationCore& simulation)
      : own_(own),
        name_(simulation.plan().model.name),
        opened_(opened_in(own, simulation.plan().network)),
        time_(time_in(own, "linearize")),
        order_(whole_number(own, "linearize", "reduce", 0)),
        until_(until_in(own)) {
    std::vector<std::string> files;
    for (const char* word : pictures)
      if (const auto file = own.value(word)) files.push_back(*file);
    if (!files.empty()) require_drawing(files);
    if (until_ && !own.has("step")) refuse("--until is for --step");
  }

  void linearise(SimulationCore& simulation) {
    go_to(simulation, time_);
    system_ = linear_system(simulation, opened_);
    if (!opened_.empty()) closed_ = linear_system(simulation).a;
  }

  void tell(const Network& network) const {
    const Modes modes = modes_of(system_.a);
    std::printf("%s at t = %.9g s: %zu states, %zu inputs that nothing feeds, %zu outputs\n",
                name_.c_str(), system_.time, system_.states.size(), system_.inputs.size(),
                system_.outputs.size());
    print_modes(system_.states, modes);
    std::optional<TransferPath> path;
    if (asks_for_path(own_)) path = path_in(own_, name_, network, opened_, system_);
    std::optional<ReducedSystem> reduced;
    if (order_) reduced = balanced_truncation(path ? path->system : StateSpace(system_), *order_);
    if (path) {
      print_path(*path);
      if (path->loop) print_margins(*path, closed_);
    }
    if (reduced) print_reduced(*reduced);
    for (const char* word : pictures) {
      const auto file = own_.value(word);
      if (!file) continue;
      draw_path(word, *path, reduced ? &reduced->system : nullptr, until_, *file);
      std::printf("  %-22s%s\n", word, file->c_str());
    }
    const std::string file = own_.value("output").value_or("");
    if (file.empty()) return;
    write_system(file, name_, system_, modes, path ? &*path : nullptr,
                 reduced ? &*reduced : nullptr);
    std::printf("  A, B, C, D            %s\n", file.c_str());
  }

 private:
  static std::optional<double> until_in(const GivenWords& own) {
    const auto text = own.value("until");
    if (!text) return std::nullopt;
    const auto number = parse_number(*text);
    if (!number || !(*number > 0.0) || !std::isfinite(*number))
      refuse("--until must be a time in s above 0, not " + in_quotes(*text));
    return number;
  }

  const GivenWords& own_;
  std::string name_;
  std::vector<Connection> opened_;
  std::optional<double> time_;
  std::optional<long> order_;
  std::optional<double> until_;
  LinearSystem system_;
  Eigen::MatrixXd closed_;
};

int linearize_model(ModelCall call) {
  call.model.paces.emplace();  // of all subsystems
  auto plan = std::make_unique<SimulationPlan>(PETSC_COMM_WORLD, std::move(call.model));
  SimulationCore simulation(std::move(plan));
  Told told(call.own, simulation);
  collectively(PETSC_COMM_WORLD, [&] { told.linearise(simulation); });
  together(PETSC_COMM_WORLD, [&] {
    if (rank_in(PETSC_COMM_WORLD) == 0) told.tell(simulation.plan().network);
  });
  return 0;
}

const RegisteredCommand linearize({
    .name = "linearize",
    .place = 35,
    .usage = "MODEL [--time T] [--open A.Y:B.U] [--bode FILE] [--reduce N] [-o abcd.h5] [-options]",
    .summary =
        "A, B, C, D of the coupled system, eigenvalues and who takes part in them; opened loops,\n"
        "margins, poles and zeros, pictures, lower order",
    .description =
        "Linearises the coupled system at the start, or where a run with these options has come "
        "to\n"
        "at --time: x' = A x + B u, y = C x + D u with the states and outputs of all subsystems "
        "and\n"
        "the inputs that nothing feeds; algebraic loops are solved. Prints the eigenvalues of A,\n"
        "their frequencies and damping ratios, and the participation factors of the states; parts "
        "of\n"
        "eigenvalues that rounding may have made are shown as 0.\n"
        "Where a loop is opened the transfer function around it is L = -output/input, so that the "
        "loop\n"
        "is closed where L = -1; poles, zeros and margins are those of L. Pictures need "
        "matplotlib.",
    .words = words_of_models(
        {{.name = "time", .value = "T", .help = "s; default: the start"},
         {.name = "open",
          .value = "A.Y:B.U",
          .help = "the connection a.y -> b.u is cut: b.u is an input; as often\n"
                  "as wanted, the first one is looked at"},
         {.name = "from",
          .value = "B.U",
          .help = "input that nothing feeds, of poles, zeros and pictures"},
         {.name = "to", .value = "A.Y", .help = "output of them"},
         {.name = "bode", .value = "FILE", .help = "picture of gain and phase: .png, .svg or .pdf"},
         {.name = "nyquist",
          .value = "FILE",
          .help = "picture in the complex plane, with the point -1 of a loop"},
         {.name = "step", .value = "FILE", .help = "picture of the response to a step of 1"},
         {.name = "until", .value = "T", .help = "s, of that picture (default: as modes decay)"},
         {.name = "poles",
          .value = "FILE",
          .help = "picture of poles and zeros; those that cancel are grey"},
         {.name = "reduce",
          .value = "N",
          .help = "N states by balanced truncation, of what --open or --from and\n"
                  "--to choose, else of all; prints Hankel singular values and\n"
                  "the bound of the error, drawn dashed"},
         {.name = "output",
          .letter = 'o',
          .value = "FILE",
          .help = "HDF5: A, B, C, D, names, eigenvalues, participation; of\n"
                  "one input and output in /path, reduced in /reduced"}}),
    .example = "linearize servo.yaml --open pid.y:slide.share --bode loop.png",
    .more_help = options_help,
    .run =
        [](const Arguments& arguments) {
          return with_model(linearize, arguments, linearize_model);
        },
});

}  // namespace
}  // namespace concord
