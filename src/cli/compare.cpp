#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/comparison.hpp"
#include "cli/json_number.hpp"
#include "cli/results_commands.hpp"
#include "cli/results_options.hpp"
#include "cli/session.hpp"
#include "concord/errors.hpp"
#include "record/table_results.hpp"

namespace concord {
namespace {

const RegisteredCommand compare({
    .name = "compare",
    .place = 40,
    .usage = "A.h5 B.h5 [--variables V] [--tolerance 2e-3] [--json]",
    .summary = "error of A against B; a verdict by --tolerance",
    .brief = "error of one run against another; a verdict by --tolerance",
    .description =
        "Prints the error of the results A against the reference B, per variable, over the\n"
        "communication points of A in the common time interval:\n"
        "  relative L2  sqrt(sum (a-b)^2 / sum b^2)\n"
        "  maximum      max |a-b|, in the unit to show the variable in\n"
        "B is interpolated where its time grid differs: cubic Hermite for inputs, else, on the "
        "nearest\n"
        "points, up to degree 7, with slopes where they are recorded; neither across events "
        "nor\n"
        "across jumps and kinks that the rows show. Rows at events, which hold what follows, are\n"
        "compared with what follows the same event of B, also where B has it a little earlier or "
        "later.\nWith a tolerance the verdict is whether each variable stays within a tube around "
        "B "
        "of that\npart of its range (its size where it is constant) on either side; exit code 1 "
        "where one leaves it.\n"
        "Either may be a table with the same names over time: CSV, .mat of Modelica's tools, "
        ".parquet, "
        ".mf4.",
    .words = {{.name = "variables",
               .letter = 'v',
               .value = "NAMES",
               .help = "comma-separated names or patterns: left.x,cell[*].x\n"
                       "(default: all that both files hold, but balance errors and residuals\n"
                       "of constraints)"},
              {.name = "tolerance",
               .letter = 't',
               .value = "2e-3",
               .help = "half the width of the tube, in units of each variable's range"},
              {.name = "json", .letter = 'j', .help = "the same for programs, on standard output"}},
    .example = "compare coarse.h5 fine.h5 --variables 'left.*' --tolerance 2e-3",
    .run =
        [](const Arguments& arguments) {
          return without_session([&] { return compare_command(after_name(arguments)); });
        },
});

void print_missing(const ResultsReader& missing_in, const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  if (names.empty()) return;
  std::printf("not in %s:", missing_in.path().c_str());
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    std::printf("%s %s", i == 0 ? "" : ",", names[i].c_str());
  if (names.size() > most) std::printf(" and %zu more", names.size() - most);
  std::printf("\n");
}

void print_row(int name_width, int unit_width, const VariableError& e) {
  std::printf("%-*s  %-*s  %14.6e  %14.8g  %14.6e  %14.9g\n", name_width, e.name.c_str(),
              unit_width, e.display.c_str(), e.relative, 100.0 * e.relative, e.factor * e.maximum,
              e.time_of_maximum);
}

void print_table(const std::vector<VariableError>& errors) {
  std::size_t name_width = 12, unit_width = 4;
  double squares = 0.0, largest = 0.0;
  for (const VariableError& e : errors) {
    name_width = std::max(name_width, e.name.size());
    unit_width = std::max(unit_width, e.display.size());
    squares += e.relative * e.relative;
    largest = std::isnan(e.relative) ? e.relative : std::max(largest, e.relative);
  }
  const int name = static_cast<int>(name_width), unit = static_cast<int>(unit_width);
  std::printf("%-*s  %-*s  %14s  %14s  %14s  %14s\n", name, "variable", unit, "unit", "relative L2",
              "in %", "maximum", "at time [s]");
  for (const VariableError& e : errors) print_row(name, unit, e);
  const double mean = std::sqrt(squares / static_cast<double>(errors.size()));
  std::printf("%-*s  %-*s  %14.6e  %14.8g  largest %.6e, %zu variables\n", name, "total (rms)",
              unit, "", mean, 100.0 * mean, largest, errors.size());
}

/// Whether it stays in the tube; what is no number does not.
bool stays(const VariableError& error, double tolerance) { return error.of_range() <= tolerance; }

void print_verdict(const std::vector<VariableError>& errors, double tolerance) {
  constexpr std::size_t listed = 10;
  std::size_t leaving = 0;
  for (const VariableError& e : errors) {
    if (stays(e, tolerance) || ++leaving > listed) continue;
    std::printf("%s leaves its tube: %.6g of its range, at t = %.9g s\n", e.name.c_str(),
                e.of_range(), e.time_of_maximum);
  }
  std::printf("tolerance %.6g of each range: %s", tolerance, leaving == 0 ? "kept" : "LEFT by");
  if (leaving > 0) std::printf(" %zu of %zu variables", leaving, errors.size());
  std::printf("\n");
}

using CompareJson = nlohmann::ordered_json;

void print_json(const Comparison& found, const std::vector<std::string>& files,
                std::optional<double> tolerance) {
  CompareJson variables = CompareJson::array();
  bool all = true;
  for (const VariableError& e : found.errors) {
    variables.push_back({{"name", e.name},
                         {"unit", e.unit},
                         {"relative_l2", json_number(e.relative)},
                         {"maximum", json_number(e.maximum)},
                         {"time_of_maximum", e.time_of_maximum},
                         {"range", json_number(e.range)},
                         {"maximum_of_range", json_number(e.of_range())}});
    if (tolerance) variables.back()["within"] = stays(e, *tolerance);
    all = all && (!tolerance || stays(e, *tolerance));
  }
  CompareJson json = {{"a", files[0]},
                      {"b", files[1]},
                      {"rows", found.rows},
                      {"begin", found.begin},
                      {"end", found.end},
                      {"not_in_a", found.not_in_a},
                      {"not_in_b", found.not_in_b},
                      {"variables", variables}};
  if (tolerance) {
    json["tolerance"] = *tolerance;
    json["within"] = all;
  }
  std::printf("%s\n", json.dump(2).c_str());
}

void print_comparison(const ResultsReader& a, const ResultsReader& b, const Comparison& found) {
  print_missing(a, found.not_in_a);
  print_missing(b, found.not_in_b);
  const bool tables = is_table(a.path()) || is_table(b.path());
  if (!tables && a.model_name() != b.model_name())
    std::printf("different models: '%s' and '%s'\n", a.model_name().c_str(),
                b.model_name().c_str());
  std::printf("error of %s against %s at %zu of %zu communication points, %.9g s to %.9g s\n",
              a.path().c_str(), b.path().c_str(), found.rows, a.time().size(), found.begin,
              found.end);
  print_table(found.errors);
}

}  // namespace

int compare_command(std::span<const std::string> arguments) {
  const ResultsOptions options = read_results_options(compare, arguments, 2, 2);
  const ResultsReader a(options.files[0]), b(options.files[1]);
  const Comparison found = compared(a, b, options.variables);
  if (options.json) {
    print_json(found, options.files, options.tolerance);
  } else {
    print_comparison(a, b, found);
    if (options.tolerance) print_verdict(found.errors, *options.tolerance);
  }
  const auto& errors = found.errors;
  const bool kept = !options.tolerance ||
                    std::all_of(errors.begin(), errors.end(), [&](const VariableError& error) {
                      return stays(error, *options.tolerance);
                    });
  return kept ? 0 : 1;
}

}  // namespace concord
