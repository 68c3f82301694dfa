#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/dense_curves.hpp"
#include "cli/network_picture.hpp"
#include "cli/picture.hpp"
#include "cli/report_page.hpp"
#include "cli/results_commands.hpp"
#include "cli/results_options.hpp"
#include "cli/session.hpp"
#include "files/text_output.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

namespace fs = std::filesystem;
using ReportJson = nlohmann::ordered_json;

const RegisteredCommand report_run({
    .name = "report",
    .place = 65,
    .usage = "RESULT.h5 [--variables V] [-o report.html]",
    .summary = "one page on a run: network, trajectories,\nmacro-steps, events, estimates, time",
    .brief = "one page on a run: network, trajectories, events, estimates",
    .description =
        "Writes one page of HTML that needs no network and nothing beside it: how far to trust "
        "the\n"
        "run, its network with algebraic loops and ranks, trajectories to zoom, a phase plot,\n"
        "macro-steps with their iterations and error estimates, events, where the time went, "
        "options\n"
        "and model. Of runs that were interrupted, failed or still go on it shows what is there.",
    .words = {{.name = "variables",
               .letter = 'v',
               .value = "NAMES",
               .help = "comma-separated names or patterns: left.x,cell[*].x\n"
                       "(default: outputs, inputs and states; of many, the first ones)"},
              {.name = "output",
               .letter = 'o',
               .value = "FILE",
               .help = "page to write (default: the results file's name with .html)"}},
    .example = "report model.h5 -o report.html",
    .run =
        [](const Arguments& arguments) {
          return without_session([&] { return report_command(after_name(arguments)); });
        },
});

/// What one page holds.
constexpr std::size_t most_variables = 64, points_of_a_page = 200'000, most_events = 200,
                      most_marks = 5000;

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// As many digits as can be seen.
double rounded_to(int digits, double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.*g", digits, value);
  return std::strtod(text.data(), nullptr);
}

ReportJson rounded(std::span<const double> values) {
  ReportJson result = ReportJson::array();
  for (const double value : values) result.push_back(rounded_to(7, value));
  return result;
}

/// Stretches of time into which long series are cut, so that `series` of them fit.
std::size_t stretches_for(std::size_t series) {
  constexpr std::size_t least = 50, points_per_stretch = 4;
  return std::max(least,
                  points_of_a_page / (points_per_stretch * std::max<std::size_t>(1, series)));
}

ReportJson curve(const std::string& name, std::span<const double> time,
                 std::span<const double> values, std::size_t stretches) {
  ReportJson x = ReportJson::array(), y = ReportJson::array();
  for (const auto& [t, value] : thin_out(time, values, stretches)) {
    x.push_back(rounded_to(10, t));
    y.push_back(rounded_to(7, value));
  }
  return {{"name", name}, {"x", x}, {"y", y}};
}

/// Of one results file.
class Report {
 public:
  Report(const ResultsReader& results, const std::vector<std::string>& wanted)
      : results_(results), wanted_(wanted) {}

  ReportJson data() {
    ReportJson data{{"model", results_.model_name()},
                    {"status", results_.status()},
                    {"end", results_.time().back()}};
    data["facts"] = facts();
    data["trust"] = trust();
    data["errors"] = errors();
    add_network(data);
    add_variables(data);
    add_steps(data);
    add_events(data);
    add_costs(data);
    data["run"] = run();
    const auto options = results_.texts("/runs/options");
    data["options"] = options.empty() ? results_.text("petsc_options") : options.back();
    data["model_text"] = results_.text("model_text");
    return data;
  }

 private:
  ReportJson facts() const;
  ReportJson trust() const;
  ReportJson errors() const;
  void add_network(ReportJson& data) const;
  void add_variables(ReportJson& data) const;
  void add_steps(ReportJson& data) const;
  void add_events(ReportJson& data) const;
  void add_costs(ReportJson& data) const;
  ReportJson run() const;

  const ResultsReader& results_;
  const std::vector<std::string>& wanted_;
};

ReportJson Report::facts() const {
  ReportJson facts = ReportJson::array();
  const std::size_t rows = results_.time().size();
  facts.push_back(counted(rows, "row"));
  facts.push_back(counted(results_.numbers("/steps/size").size(), "macro-step"));
  const double ranks = results_.number("ranks");
  if (std::isfinite(ranks)) facts.push_back(counted(static_cast<std::size_t>(ranks), "rank"));
  return facts;
}

/// As the summary of the run says it (contract 5a).
ReportJson Report::trust() const {
  ReportJson lines = ReportJson::array();
  const auto count = [&](const char* attribute) {
    const double number = results_.number(attribute);
    return std::isfinite(number) ? static_cast<std::size_t>(number) : 0;
  };
  if (const std::string diverged = results_.text("diverged"); !diverged.empty())
    lines.push_back("Diverged: " + diverged);
  const std::string undecided = results_.text("undecided");
  if (!undecided.empty()) lines.push_back("Not decided, nor what follows: " + undecided);
  if (const std::string accuracy = results_.text("accuracy"); !accuracy.empty())
    lines.push_back("Accuracy: " + accuracy);
  const double worst = results_.number("error_estimate");
  if (std::isfinite(worst))
    lines.push_back("Largest estimated error: " + short_number(rounded_to(3, worst)) +
                    " of the size of " + results_.text("error_estimate_of") +
                    (results_.text("estimated_by") == "halving"
                         ? ", by a second run in halves of the macro-steps."
                         : "."));
  else if (const std::string why = results_.text("no_estimate"); !why.empty())
    lines.push_back("No error estimate: " + why);
  else if (undecided.empty())
    lines.push_back("No error estimate: it is known when a run has ended.");
  lines.push_back(
      "Events: " + std::to_string(results_.events().size()) +
      "; jumps found in black boxes: " + std::to_string(count("black_box_jumps")) +
      "; macro-steps that ended at noise: " + std::to_string(count("macro_steps_at_noise")) + ".");
  return lines;
}

/// The largest first.
ReportJson Report::errors() const {
  constexpr std::size_t most = 10;
  const auto values = results_.numbers("/outputs/error_estimate");
  const auto names = results_.texts("/outputs/names");
  std::vector<std::pair<double, std::string>> known;
  for (std::size_t i = 0; i < std::min(values.size(), names.size()); ++i)
    if (std::isfinite(values[i])) known.emplace_back(values[i], names[i]);
  std::stable_sort(known.begin(), known.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  known.resize(std::min(known.size(), most));
  ReportJson result = ReportJson::array();
  for (const auto& [error, name] : known) result.push_back({name, rounded_to(3, error)});
  return result;
}

void Report::add_network(ReportJson& data) const {
  ReportJson edges = ReportJson::array();
  for (const RecordedConnection& c : recorded_connections(results_))
    edges.push_back({{"from", c.from},
                     {"to", c.to},
                     {"output", c.output},
                     {"input", c.input},
                     {"what", c.signal},
                     {"loop", c.loop}});
  data["connections"] = edges;
}

void Report::add_variables(ReportJson& data) const {
  std::vector<RecordedVariable> variables = select_variables(results_, wanted_);
  ReportJson left_out = ReportJson::array(), drawn = ReportJson::array();
  for (std::size_t i = most_variables; i < variables.size(); ++i)
    left_out.push_back(variables[i].name);
  variables.resize(std::min(variables.size(), most_variables));
  const DenseCurves curves(results_, std::nullopt, 300);
  const std::size_t stretches = stretches_for(variables.size());
  std::map<Quantity, std::vector<std::size_t>> of_quantity;
  for (const RecordedVariable& variable : variables) {
    ReportJson one = curve(variable.name, curves.time(), curves.values(variable), stretches);
    one["unit"] = variable.display;
    drawn.push_back(std::move(one));
  }
  data["variables"] = drawn;
  data["left_out"] = left_out;
  data["thinned"] = curves.time().size() > 4 * stretches;
}

void Report::add_steps(ReportJson& data) const {
  struct Row {
    const char *panel, *path, *name;
    bool log;
  };
  constexpr std::array rows{
      Row{"Size [s]", "/steps/size", "size", true},
      Row{"Iterations and evaluations", "/steps/iterations", "iterations", false},
      Row{"", "/steps/coupling_evaluations", "coupling evaluations", false},
      Row{"", "/steps/linear_iterations", "linear iterations", false},
      Row{"", "/steps/rejections", "rejections", false},
      Row{"Error estimate", "/steps/error_estimate", "error estimate", true},
      Row{"Residual, over its tolerance", "/steps/residual", "residual", true},
      Row{"Wall time [s]", "/steps/wall_time", "wall time", true}};
  std::vector<double> time = results_.numbers("/steps/time");
  if (time.empty()) time.assign(results_.time().begin() + 1, results_.time().end());
  ReportJson panels = ReportJson::array(), sums = ReportJson::array();
  for (const Row& row : rows) {
    auto values = results_.numbers(row.path);
    const std::size_t n = std::min(values.size(), time.size());
    values.resize(n);
    std::vector<double> known = values;
    std::erase_if(known, [](double value) { return !std::isfinite(value); });
    if (known.empty()) continue;
    if (*row.panel != '\0' || panels.empty())
      panels.push_back({{"title", row.panel}, {"log", row.log}, {"curves", ReportJson::array()}});
    panels.back()["curves"].push_back(
        curve(row.name, std::span(time).first(n), values, stretches_for(rows.size())));
    double sum = 0.0;
    for (const double value : known) sum += value;
    const auto [least, largest] = std::minmax_element(known.begin(), known.end());
    ReportJson line{row.name};
    const std::array all{*least, sum / static_cast<double>(known.size()), *largest, sum};
    line.insert(line.end(), {rounded_to(5, all[0]), rounded_to(5, all[1]), rounded_to(5, all[2]),
                             rounded_to(5, all[3])});
    sums.push_back(line);
  }
  data["steps"] = panels;
  data["step_sums"] = sums;
}

void Report::add_events(ReportJson& data) const {
  const auto happened = results_.read_events();
  const auto& times = results_.events();
  ReportJson list = ReportJson::array();
  for (std::size_t i = 0; i < std::min(most_events, times.size()); ++i)
    list.push_back({times[i], happened[i].subsystem, happened[i].what});
  const std::size_t marks = std::min(most_marks, times.size());
  data["events"] = {
      {"count", times.size()},
      {"list", list},
      {"marks",
       std::vector<double>(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(marks))}};
}

void Report::add_costs(ReportJson& data) const {
  const auto kinds = results_.texts("/subsystems/kind");
  const auto ranks = results_.numbers("/subsystems/rank");
  const auto advances = results_.numbers("/subsystems/advances");
  const auto rhs = results_.numbers("/subsystems/rhs_evaluations");
  const auto micro = results_.numbers("/subsystems/micro_steps");
  const auto costs = results_.costs();
  const auto entry = [](const std::vector<double>& values, std::size_t k) {
    return k < values.size() ? values[k] : 0.0;
  };
  ReportJson subsystems = ReportJson::array();
  for (std::size_t k = 0; k < costs.size(); ++k)
    subsystems.push_back({{"name", costs[k].subsystem},
                          {"kind", k < kinds.size() ? kinds[k] : ""},
                          {"rank", static_cast<int>(entry(ranks, k))},
                          {"seconds", rounded_to(5, costs[k].all)},
                          {"advances", static_cast<std::int64_t>(entry(advances, k))},
                          {"rhs", static_cast<std::int64_t>(entry(rhs, k))},
                          {"micro", static_cast<std::int64_t>(entry(micro, k))}});
  data["subsystems"] = subsystems;
  constexpr std::array phases{"step",     "advance", "exchange",  "solve",
                              "estimate", "record",  "checkpoint"};
  std::vector<std::vector<double>> per_rank;
  for (std::size_t p = 0; p < phases.size(); ++p) {
    const auto times = results_.numbers("/ranks/" + std::string(phases[p]) + "_time");
    per_rank.resize(std::max(per_rank.size(), times.size()),
                    std::vector<double>(phases.size(), 0.0));
    for (std::size_t r = 0; r < times.size(); ++r) per_rank[r][p] = times[r];
  }
  ReportJson rows = ReportJson::array();
  for (const auto& rank : per_rank) rows.push_back(rounded(rank));
  data["phases"] = rows;
  data["phase_names"] = phases;
}

ReportJson Report::run() const {
  ReportJson rows = ReportJson::array();
  const auto add = [&](const std::string& what, const std::string& text) {
    if (!text.empty()) rows.push_back({what, text});
  };
  add("results file", fs::absolute(results_.path()).lexically_normal().string());
  add("command line", results_.text("command_line"));
  add("changes of the model", results_.text("changes"));
  const auto last = [&](const char* path) {
    const auto texts = results_.texts(path);
    return texts.empty() ? std::string() : texts.back();
  };
  add("started", last("/runs/started"));
  add("host", last("/runs/host"));
  add("continues", last("/runs/continues"));
  std::string versions = last("/runs/versions");
  while (versions.ends_with('\n')) versions.pop_back();
  std::replace(versions.begin(), versions.end(), '\n', ';');
  add("versions", versions);
  const auto files = results_.texts("/files/name"), prints = results_.texts("/files/sha256");
  for (std::size_t i = 0; i < std::min(files.size(), prints.size()); ++i)
    add(files[i], "SHA-256 " + prints[i]);
  return rows;
}

}  // namespace

int report_command(std::span<const std::string> arguments) {
  const ResultsOptions options = read_results_options(report_run, arguments, 1, 1);
  const ResultsReader results(options.files[0]);
  const std::string page =
      options.output.value_or(fs::path(options.files[0]).replace_extension(".html").string());
  const ReportJson data = Report(results, options.variables).data();
  TextOutput file(page);
  file.write(report_page(results.model_name() + ": report",
                         data.dump(-1, ' ', false, ReportJson::error_handler_t::replace)));
  file.close();
  std::printf("%s\n", page.c_str());
  return 0;
}

}  // namespace concord
