#include <algorithm>
#include <cmath>
#include <utility>

#include "concord/errors.hpp"
#include "files/text_file.hpp"
#include "modelfile/scenario/scenario.hpp"
#include "modelfile/yaml/connections_reader.hpp"
#include "modelfile/yaml/node_reader.hpp"
#include "support/name_patterns.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Fields = std::vector<Field>;
using Kind = EntryShape::Kind;

constexpr EntryShape number{Kind::number}, expression{Kind::expression}, flag{Kind::flag},
    names{Kind::value}, by_target{Kind::paths, false, nullptr, &expression};

std::span<const Key> action_keys() {
  static constexpr Key keys[] = {
      {"at", number, "time in s"},
      {"when", expression, "acts when it becomes true"},
      {"once", flag, "whether a condition acts the first time only"},
      {"initially", flag, "whether a condition that is true at the start acts there"},
      {"for", number, "how long, in s"},
      {"until", expression, "a time in s, or a condition that ends it when it becomes true"},
      {.name = "set", .shape = by_target, .meaning = "of what nothing feeds", .alternative = true},
      {.name = "ramp",
       .shape = by_target,
       .meaning = "linear to there from what it is",
       .alternative = true},
      {.name = "override",
       .shape = by_target,
       .meaning = "in the place of what it is",
       .alternative = true},
      {.name = "offset", .shape = by_target, .meaning = "added to it", .alternative = true},
      {.name = "freeze", .shape = names, .meaning = "stays as it was", .alternative = true},
      {.name = "drop", .shape = names, .meaning = "nothing of it arrives", .alternative = true},
      {.name = "noise",
       .shape = by_target,
       .meaning = "standard deviation of what is added",
       .alternative = true},
      {"every", number, "s between values of noise"},
      {"seed", number, "of noise"}};
  return keys;
}

std::span<const Key> scenario_keys() {
  static constexpr EntryShape action{Kind::record, false, action_keys}, text{Kind::text};
  static constexpr Key keys[] = {{"name", text, "one line of text"},
                                 {"actions",
                                  {Kind::list, false, nullptr, &action},
                                  "what happens",
                                  "actions: [{at: 10, set: {subsystem.input: 0.5}}]"}};
  return keys;
}

constexpr std::pair<Deed, std::string_view> deeds[] = {
    {Deed::set, "set"},       {Deed::ramp, "ramp"},     {Deed::override_value, "override"},
    {Deed::offset, "offset"}, {Deed::freeze, "freeze"}, {Deed::drop, "drop"},
    {Deed::noise, "noise"}};

std::string_view word(Deed deed) {
  return std::ranges::find(deeds, deed, &std::pair<Deed, std::string_view>::first)->second;
}

std::pair<Deed, NodeReader> deed_in(const NodeReader& node, const Fields& fields) {
  std::optional<std::pair<Deed, NodeReader>> result;
  std::string all;
  for (const auto& [deed, name] : deeds) {
    all += (all.empty() ? "" : ", ") + std::string(name);
    const auto found = find_field(fields, name);
    if (!found) continue;
    if (result)
      node.fail("has both '" + std::string(word(result->first)) + "' and '" + std::string(name) +
                "'; make two actions of it");
    result.emplace(deed, *found);
  }
  if (!result) node.fail("does nothing; it needs one of " + all);
  return *result;
}

double positive(const NodeReader& node, const char* what) {
  const double value = node.number(Constants());
  if (!(value > 0.0))
    node.fail("must be " + std::string(what) + ", greater than 0, not " + short_number(value));
  return value;
}

/// When it begins and how it ends.
void read_times(const NodeReader& node, const Fields& fields, ScenarioAction& action) {
  const auto at = find_field(fields, "at"), when = find_field(fields, "when");
  const auto last = find_field(fields, "for"), until = find_field(fields, "until");
  const auto initially = find_field(fields, "initially"), once = find_field(fields, "once");
  if (at.has_value() == when.has_value())
    node.fail("needs either 'at', a time in s, or 'when', a condition");
  if (last && until) until->fail("stands beside 'for', which says when it ends, too; keep one");
  if (initially && at) initially->fail("belongs to 'when'; a time comes at the start where it is");
  if (once && at) once->fail("belongs to 'when'; a time comes once");
  if (at) action.at = at->number(Constants());
  if (when) action.when = when->text();
  action.once = once && once->flag();
  action.initially = initially && initially->flag();
  action.time_location = (at ? *at : *when).location();
  if (last) action.last = positive(*last, "a time in s");
  if (until) {
    action.until = until->text();
    action.end_location = until->location();
    const auto time = parse_number(action.until);
    if (time && at && *time <= *action.at)
      until->fail("must be a time behind " + short_number(*action.at) + " s, where it begins");
    if (time) action.until = "t >= " + exact_number(*time);
  }
}

void read_noise(const NodeReader& node, const Fields& fields, ScenarioAction& action) {
  const auto every = find_field(fields, "every"), seed = find_field(fields, "seed");
  for (const auto* field : {&every, &seed})
    if (action.deed != Deed::noise && *field) (*field)->fail("belongs to 'noise'");
  if (action.deed != Deed::noise) return;
  if (!every) node.fail("lacks 'every', the time in s between values of noise; add every: 0.1");
  action.every = positive(*every, "a time in s");
  if (!seed) return;
  const double value = seed->number(Constants());
  constexpr double largest = 4294967295.0;
  if (value < 0.0 || value > largest || value != std::floor(value))
    seed->fail("must be a whole number from 0 to 4294967295, not " + short_number(value));
  action.seed = static_cast<long>(value);
}

std::string target_in(const NodeReader& place, const std::string& text) {
  if (!is_variable_path(text) && !(is_pattern(text) && text.find('.') != text.npos))
    place.fail("must name 'subsystem.variable', not " + in_quotes(text));
  return text;
}

void refuse_bad_value(const ScenarioAction& action, const NodeReader& value) {
  const auto given = parse_number(action.value);
  if (action.deed == Deed::noise && (!given || *given < 0.0))
    value.fail("must be a standard deviation, a number that is not negative, not " +
               in_quotes(action.value));
}

void read_action(const NodeReader& node, std::vector<ScenarioAction>& actions) {
  const Fields fields = node.fields_among(action_keys);
  const auto [deed, what] = deed_in(node, fields);
  ScenarioAction action;
  action.deed = deed;
  action.location = node.location();
  read_times(node, fields, action);
  read_noise(node, fields, action);
  if (deed == Deed::ramp && !action.last)
    node.fail("lacks 'for', the time in s that the ramp takes; add for: 5");
  const std::size_t before = actions.size();
  if (deed == Deed::freeze || deed == Deed::drop) {
    std::vector<NodeReader> targets = {what};
    if (what.is_list()) targets = what.items(what.what());
    for (const NodeReader& target : targets) {
      action.target = target_in(target, target.text());
      action.value_location = target.location();
      actions.push_back(action);
    }
  } else {
    for (const Field& field : what.fields("", what.what())) {
      action.target = target_in(what, field.key);
      action.value = field.value.text();
      action.value_location = field.value.location();
      refuse_bad_value(action, field.value);
      actions.push_back(action);
    }
  }
  if (actions.size() == before)
    what.fail("names nothing that it acts on; add 'subsystem.variable'");
}

}  // namespace

std::vector<ScenarioAction> read_scenario(const std::filesystem::path& path) {
  const std::string source = path.string();
  if (std::error_code error; !std::filesystem::is_regular_file(path, error))
    throw InputError("-cosim_scenario " + in_quotes(source) +
                     ": there is no such file; give a YAML file with actions:");
  const YamlDocument document = parse_yaml(read_text_file(path, "a scenario (YAML)"), source);
  if (document.root == nullptr || document.root->kind == YamlNode::Kind::null)
    throw InputError(source + ":1: the scenario is empty; it needs actions:");
  const Fields fields =
      NodeReader(source, *document.root, "the scenario").fields_among(scenario_keys);
  if (const auto name = find_field(fields, "name")) name->text();
  std::vector<ScenarioAction> result;
  for (const NodeReader& item : field_of(fields, "actions").items("action"))
    read_action(item.called("the action"), result);
  return result;
}

std::vector<ScenarioAction> planned_actions(const std::string& list) {
  const std::string option = "option -cosim_stream_set";
  std::vector<ScenarioAction> result;
  for (const std::string& each : listed_names(list)) {
    const std::size_t equals = each.find('='), colon = each.find(':', equals);
    ScenarioAction action;
    action.planned = true;
    action.target = each.substr(0, equals);
    if (equals != each.npos && colon != each.npos) {
      action.least = parse_number(each.substr(equals + 1, colon - equals - 1));
      action.most = parse_number(each.substr(colon + 1));
    }
    const bool limited = action.least && action.most && *action.least < *action.most;
    if ((equals != each.npos && !limited) ||
        (action.target.find('.') == std::string::npos && !is_pattern(action.target)))
      throw InputError(option + ": " + in_quotes(each) +
                       " is no name with limits; it takes names and patterns as car.pedal=0:1, "
                       "'car.*', separated by commas");
    action.location = action.time_location = action.end_location = action.value_location = option;
    result.push_back(std::move(action));
  }
  return result;
}

std::string in_words(const ScenarioAction& action) {
  const std::string& target = action.target;
  if (action.planned) return "set " + target + " as those who watch say";
  switch (action.deed) {
    case Deed::set:
      return "set " + target + " to " + action.value;
    case Deed::ramp:
      return "ramp " + target + " to " + action.value;
    case Deed::override_value:
      return "override " + target + " with " + action.value;
    case Deed::offset:
      return "offset " + target + " by " + action.value;
    case Deed::noise:
      return "noise of " + action.value + " on " + target;
    case Deed::freeze:
    case Deed::drop:
      break;
  }
  return std::string(word(action.deed)) + " " + target;
}

std::string time_in_words(const ScenarioAction& action) {
  if (action.planned) return "while the run goes on";
  std::string result =
      action.at ? "at t = " + short_number(*action.at) + " s" : "when " + action.when;
  if (action.last) result += " for " + short_number(*action.last) + " s";
  if (!action.until.empty()) result += " until " + action.until;
  return result;
}

}  // namespace concord
