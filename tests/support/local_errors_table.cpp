/// local_errors MODEL...: for each model of linear subsystems, order and macro-step a row per
/// output of its true local error and both of Richardson's estimates, divided by the output's size.
/// Columns: model, order, h in s, output, true, classical, modified.
#include <cstdio>
#include <exception>
#include <filesystem>

#include "modelfile/model_file.hpp"
#include "support/local_errors.hpp"
#include "support/petsc.hpp"

namespace {

using namespace concord;

void print_rows(const std::filesystem::path& path) {
  const Model model = read_model_file(path);
  const Network network(model);
  const auto sizes = test::output_sizes(model);
  for (int order = 0; order <= 2; ++order) {
    for (const double h : {1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5}) {
      const auto classical = test::mean_local_errors(model, ErrorEstimate::richardson, order, h);
      const auto modified =
          test::mean_local_errors(model, ErrorEstimate::richardson_modified, order, h);
      for (std::size_t o = 0; o < sizes.size(); ++o) {
        std::printf("%s %d %g %s %.3e %.3e %.3e\n", path.stem().c_str(), order, h,
                    network.output_names()[o].c_str(), modified.real[o] / sizes[o],
                    classical.estimated[o] / sizes[o], modified.estimated[o] / sizes[o]);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  PetscInitializeNoArguments();
  int code = 0;
  try {
    for (int i = 1; i < argc; ++i) {
      print_rows(argv[i]);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "local_errors: %s\n", error.what());
    code = 1;
  }
  PetscFinalize();
  return code;
}
