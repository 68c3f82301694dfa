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
#include "concord/errors.hpp"
#include "files/hdf5_io.hpp"
#include "files/replaceable.hpp"
#include "simulation/linear_system.hpp"
#include "support/agreement.hpp"
#include "support/hdf5_error.hpp"
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

void write_eigenvalues(hid_t file, const Modes& modes) {
  std::vector<double> real, imaginary;
  for (const auto& value : modes.eigenvalues) {
    real.push_back(value.real());
    imaginary.push_back(value.imag());
  }
  write_dataset(file, "eigenvalues_real", H5T_NATIVE_DOUBLE, real);
  write_dataset(file, "eigenvalues_imag", H5T_NATIVE_DOUBLE, imaginary);
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
                  const Modes& modes) {
  refuse_replacing_others(path);
  const Hdf5File file = file_in_memory();
  write_attribute(file, "model_name", model);
  write_attribute(file, "time", system.time);
  write_matrix(file, "A", system.a);
  write_matrix(file, "B", system.b);
  write_matrix(file, "C", system.c);
  write_matrix(file, "D", system.d);
  write_dataset(file, "states", system.states);
  write_dataset(file, "inputs", system.inputs);
  write_dataset(file, "outputs", system.outputs);
  write_eigenvalues(file, modes);
  const std::vector<char> image = image_of(file);
  write_output_file(path, std::as_bytes(std::span(image)));
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

int linearize_model(ModelCall call) {
  const auto time = time_in(call.own, "linearize");
  const std::string path = call.own.value("output").value_or("");
  call.model.paces.emplace();  // of all subsystems
  auto plan = std::make_unique<SimulationPlan>(PETSC_COMM_WORLD, std::move(call.model));
  const std::string name = plan->model.name;
  SimulationCore simulation(std::move(plan));
  LinearSystem system;
  collectively(PETSC_COMM_WORLD, [&] {
    go_to(simulation, time);
    system = linear_system(simulation);
  });
  together(PETSC_COMM_WORLD, [&] {
    if (rank_in(PETSC_COMM_WORLD) != 0) return;
    const Modes modes = modes_of(system.a);
    std::printf("%s at t = %.9g s: %zu states, %zu inputs that nothing feeds, %zu outputs\n",
                name.c_str(), system.time, system.states.size(), system.inputs.size(),
                system.outputs.size());
    print_modes(system.states, modes);
    if (!path.empty()) {
      write_system(path, name, system, modes);
      std::printf("  A, B, C, D            %s\n", path.c_str());
    }
  });
  return 0;
}

const RegisteredCommand linearize({
    .name = "linearize",
    .place = 35,
    .usage = "MODEL [--time T] [-o abcd.h5] [-options]",
    .summary = "A, B, C, D of the coupled system, its eigenvalues, and who takes part in them",
    .description =
        "Linearises the coupled system at the start, or where a run with these options has come "
        "to\n"
        "at --time: x' = A x + B u, y = C x + D u with the states and outputs of all subsystems "
        "and\n"
        "the inputs that nothing feeds; algebraic loops are solved. Prints the eigenvalues of A,\n"
        "their frequencies and damping ratios, and the participation factors of the states.",
    .words = words_of_models({{.name = "time", .value = "T", .help = "s; default: the start"},
                              {.name = "output",
                               .letter = 'o',
                               .value = "FILE",
                               .help = "HDF5: A, B, C, D, names, eigenvalues, participation"}}),
    .example = "linearize model.yaml --time 1.5 -o abcd.h5",
    .more_help = options_help,
    .run =
        [](const Arguments& arguments) {
          return with_model(linearize, arguments, linearize_model);
        },
});

}  // namespace
}  // namespace concord
