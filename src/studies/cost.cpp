#include "studies/cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "concord/errors.hpp"
#include "expression/expression_scan.hpp"
#include "modelfile/yaml/equations_reader.hpp"
#include "studies/model_numbers.hpp"
#include "subsystem/equations/equations_description.hpp"
#include "support/name_patterns.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

constexpr const char* cost_option = "--of";
constexpr const char* integrator = "the_cost";  ///< the subsystem whose states are integrals

std::string numbered(const char* what, std::size_t number) {
  return what + std::string("_") + std::to_string(number + 1);
}

std::vector<std::string> keys(const auto& map) {
  std::vector<std::string> result;
  for (const auto& [name, value] : map) result.push_back(name);
  return result;
}

/// The subsystem whose states are integrals.
class Integrator {
 public:
  explicit Integrator(const Model& model)
      : outputs_(outputs_of(model)), numbers_(numbers_of(model)) {
    description_.subsystem = integrator;
    description_.location = cost_option;
  }

  void add(const std::string& integrand) {
    const std::string name = numbered("integral", description_.states.size());
    description_.states.push_back({name, 0.0, cost_option});
    description_.derivatives.push_back({name, known_inside(integrand), cost_option});
    description_.outputs.push_back({name, name, cost_option});
  }

  void put_into(Model& model) && {
    for (const auto& connection : connections_) model.connections.push_back(connection);
    SubsystemEntry entry =
        equations_entry(std::make_shared<const EquationsDescription>(std::move(description_)));
    entry.written = false;
    model.subsystems.push_back(std::move(entry));
  }

 private:
  /// The integrand with names of the subsystem's own.
  std::string known_inside(const std::string& integrand) {
    std::string text;
    std::size_t at = 0;
    for (const NameUse& use : names_used(integrand)) {
      if (use.called || use.name == "t" || use.name.find('.') == std::string::npos) continue;
      text += integrand.substr(at, use.position - at) + inside(use.name);
      at = use.position + use.length;
    }
    return text + integrand.substr(at);
  }

  std::string inside(const std::string& name) {
    const auto known = inside_.find(name);
    return known != inside_.end() ? known->second : inside_[name] = taken_in(name);
  }

  std::string taken_in(const std::string& name) {
    if (const auto output = outputs_.find(name); output != outputs_.end()) {
      const std::string input = numbered("output", description_.inputs.size());
      description_.inputs.push_back({input, std::nullopt, cost_option});
      connections_.push_back({.from = output->second,
                              .to = integrator + ("." + input),
                              .location = cost_option,
                              .converts_units = false});
      return input;
    }
    if (const auto number = numbers_.find(name);
        number != numbers_.end() && number->second.parameter) {
      const std::string parameter = numbered("parameter", description_.parameters.size());
      description_.parameters.push_back({parameter, number->second.value, cost_option});
      return parameter;
    }
    throw InputError(std::string(cost_option) +
                     ": an integral goes over outputs and parameters, and " + in_quotes(name) +
                     " is none; " + nearest_names(name, keys(outputs_)));
  }

  std::map<std::string, std::string> outputs_;
  std::map<std::string, ModelNumber> numbers_;
  EquationsDescription description_;
  std::map<std::string, std::string> inside_;
  std::vector<ConnectionEntry> connections_;
};

/// Sums of squares of what the answers are off the table's values, which they follow row by row.
double misfit(const TimeTable& table, std::span<const double> answers) {
  double sum = 0.0;
  for (std::size_t row = 0; row < table.time.size(); ++row)
    for (std::size_t column = 0; column < table.names.size(); ++column) {
      const double measured = table.columns[column][row];
      const double off = answers[row * table.names.size() + column] - measured;
      if (!std::isnan(measured)) sum += off * off;
    }
  return sum;
}

}  // namespace

Cost::Cost(const std::string& text) : given_(text) {
  take_text();
  take_names();
}

std::optional<Cost::Call> Cost::next_call(std::size_t from) const {
  constexpr std::array own = {"integral", "misfit", "final"};
  for (auto use = next_name(given_, from); use;
       use = next_name(given_, use->position + use->length)) {
    if (!use->called || std::ranges::find(own, use->name) == own.end()) continue;
    const std::size_t open = given_.find('(', use->position);
    const std::size_t close = find_outside_brackets(given_, {open + 1, given_.size()}, ')');
    if (close == given_.size()) refuse({given_, cost_option}, open, "this '(' is not closed");
    return Call{use->name, given_.substr(open + 1, close - open - 1), use->position, close + 1};
  }
  return std::nullopt;
}

/// What stands for the call from now on.
std::string Cost::named(const Call& call) {
  if (call.name == "final") return "(" + call.inside + ")";
  if (call.name == "integral") {
    integrands_.push_back(call.inside);
    return integrator + ("." + numbered("integral", integrands_.size() - 1));
  }
  const std::size_t first = call.inside.find_first_not_of(" \"'");
  const std::size_t last = call.inside.find_last_not_of(" \"'");
  if (first == std::string::npos)
    refuse({given_, cost_option}, call.begin, "misfit() needs a file: misfit(data.csv)");
  questions_.tables.push_back(read_measurements(call.inside.substr(first, last - first + 1)));
  return numbered("misfit", questions_.tables.size() - 1);
}

void Cost::take_text() {
  std::size_t at = 0;
  while (const auto call = next_call(at)) {
    text_ += given_.substr(at, call->begin - at) + named(*call);
    at = call->end;
  }
  text_ += given_.substr(at);
}

void Cost::take_names() {
  for (const NameUse& use : names_used(text_)) {
    const bool variable = !use.called && use.name.find('.') != std::string::npos;
    if (variable && std::ranges::find(questions_.at_stop, use.name) == questions_.at_stop.end())
      questions_.at_stop.push_back(use.name);
  }
  ExpressionNames names;
  for (const std::string& name : questions_.at_stop)
    names.variables[name] = static_cast<std::uint32_t>(names.variables.size());
  for (std::size_t t = 0; t < questions_.tables.size(); ++t)
    names.variables[numbered("misfit", t)] = static_cast<std::uint32_t>(names.variables.size());
  const PlacedExpression expression{text_, cost_option};
  compiled_.emplace(std::span(&expression, 1), names, names.variables.size());
}

void Cost::add_to(Model& model) const {
  if (integrands_.empty()) return;
  Integrator added(model);
  for (const std::string& integrand : integrands_) added.add(integrand);
  std::move(added).put_into(model);
}

double Cost::value(std::span<const double> answers) {
  const std::span<double> point = compiled_->point();
  std::size_t at = questions_.at_stop.size();
  std::ranges::copy(answers.first(at), point.begin());
  for (std::size_t t = 0; t < questions_.tables.size(); ++t) {
    const TimeTable& table = questions_.tables[t];
    const std::size_t size = table.time.size() * table.names.size();
    point[questions_.at_stop.size() + t] = misfit(table, answers.subspan(at, size));
    at += size;
  }
  double result = 0.0;
  compiled_->evaluate({&result, 1});
  return result;
}

}  // namespace concord
