#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numbers>
#include <numeric>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/model_command.hpp"
#include "concord/errors.hpp"
#include "files/hdf5_io.hpp"
#include "files/whole_file.hpp"
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

void write_system(const fs::path& path, const std::string& model, const LinearSystem& system,
                  const Modes& modes) {
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
  try {
    replace_file(path, std::as_bytes(std::span(image)));
  } catch (const std::exception& error) {
    throw InputError("'" + path.string() + "' cannot be written: " + error.what() +
                     "; choose another file with -o");
  }
}

/// "left.x 0.52, left.v 0.48": who takes the largest parts in the mode.
std::string participants(const LinearSystem& system, const Modes& modes, Eigen::Index mode) {
  constexpr std::size_t listed = 4;
  constexpr double little = 0.01;
  if (modes.participation.size() == 0) return "not told: eigenvectors nearly dependent";
  std::vector<Eigen::Index> order(system.states.size());
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  const auto part = [&](Eigen::Index state) { return modes.participation(state, mode); };
  std::stable_sort(order.begin(), order.end(),
                   [&](Eigen::Index i, Eigen::Index j) { return part(i) > part(j); });
  std::string text;
  for (std::size_t i = 0; i < std::min(listed, order.size()) && part(order[i]) >= little; ++i) {
    char number[32];
    std::snprintf(number, sizeof number, " %.2f", part(order[i]));
    text += (i == 0 ? "" : ", ") + system.states[static_cast<std::size_t>(order[i])] + number;
  }
  return text;
}

void print_modes(const LinearSystem& system, const Modes& modes) {
  constexpr Eigen::Index listed = 50;
  std::printf("  %-29s %-13s %-8s %s\n", "eigenvalue, 1/s", "frequency, Hz", "damping",
              "states that take part");
  const Eigen::Index count = modes.eigenvalues.size();
  for (Eigen::Index i = 0; i < std::min(listed, count); ++i) {
    const auto value = modes.eigenvalues[i];
    const double size = std::abs(value);
    char text[64];
    std::snprintf(text, sizeof text, value.imag() == 0.0 ? "%.6g" : "%.6g %+.6gi", value.real(),
                  value.imag());
    std::printf("  %-29s %-13.6g %-8.3g %s\n", text,
                std::abs(value.imag()) / (2.0 * std::numbers::pi),
                size > 0.0 ? -value.real() / size : 1.0, participants(system, modes, i).c_str());
  }
  if (count > listed) {
    std::printf("  and %td more, of smaller real parts, in the file\n", count - listed);
  }
}

std::optional<double> time_in(const GivenWords& own) {
  const auto text = own.value("time");
  if (!text) return std::nullopt;
  const auto time = parse_number(*text);
  if (!time || !std::isfinite(*time)) {
    throw InputError("concord linearize: --time " + in_quotes(*text) +
                     " must be a time in seconds");
  }
  return time;
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
  const auto time = time_in(call.own);
  const std::string path = call.own.value("output").value_or("");
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
    const Modes modes = modes_of(system);
    std::printf("%s at t = %.9g s: %zu states, %zu inputs that nothing feeds, %zu outputs\n",
                name.c_str(), system.time, system.states.size(), system.inputs.size(),
                system.outputs.size());
    print_modes(system, modes);
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
