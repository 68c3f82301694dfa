#include "modelfile/yaml/connections_reader.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "modelfile/yaml/model_keys.hpp"
#include "modelfile/yaml/repetition.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Fields = std::vector<Field>;

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// "cell", "cell[3]", "cell[:]".
bool is_subsystem_name(std::string_view text) {
  const std::size_t bracket = text.find('[');
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || c == '-' || c == ':'; };
  const bool indexed =
      bracket != std::string_view::npos && text.size() > bracket + 2 && text.back() == ']' &&
      std::all_of(text.begin() + static_cast<std::ptrdiff_t>(bracket) + 1, text.end() - 1, digit);
  return is_name(text.substr(0, bracket)) && (bracket == std::string_view::npos || indexed);
}

/// Of one input, or of one of each repeated subsystem: "cell[*].u".
bool is_input_path(std::string path) {
  const std::size_t all = path.find("[*]");
  if (all != std::string::npos) path.replace(all, 3, "[:]");
  return is_variable_path(path);
}

/// What stands in "sum(...)"; nothing where it is something else.
std::optional<std::string> terms_of(const std::string& text) {
  const bool sum = text.starts_with("sum") && text.ends_with(')') &&
                   text.find_first_not_of(" \t", 3) == text.find('(');
  const std::size_t begin = text.find('(') + 1;
  return sum ? std::optional(trimmed(text.substr(begin, text.size() - 1 - begin))) : std::nullopt;
}

void read_connection(const std::string& text, const NodeReader& item, ConnectionEntry entry,
                     const Constants& constants, const std::string& prefix, Model& model) {
  const std::size_t arrow = text.find("->");
  const std::string from = trimmed(text.substr(0, arrow));
  const std::string to = arrow == std::string::npos ? "" : trimmed(text.substr(arrow + 2));
  const auto terms = terms_of(from);
  if (!terms && from.find("[*]") != std::string::npos) {
    item.fail("leads several outputs to one input; " +
              (from.ends_with(".*") ? "name one subsystem on the left"
                                    : "add them up: 'sum(" + from + ") -> " + to + "'"));
  }
  if ((!terms && !is_variable_path(from)) || !is_input_path(to)) {
    const std::string output =
        from.starts_with("sum") ? "sum(subsystem[*].output)" : "subsystem.output";
    item.fail("must read '" + output + " -> subsystem.input', not " + in_quotes(text));
  }
  entry.from = prefix + from;
  entry.to = prefix + to;
  entry.location = item.location();
  if (terms) {
    model.sums.push_back({*terms, prefix, std::move(entry), constants.values, constants.functions});
  } else {
    model.connections.push_back(entry);
  }
}

/// `delay: 0.2`, s.
double read_delay(const std::optional<NodeReader>& node, const Constants& constants) {
  const double delay = node ? node->number(constants) : 0.0;
  if (delay < 0.0) {
    node->fail("must not be negative, but is " + short_number(delay) +
               " s; what is put out later cannot arrive");
  }
  return delay;
}

bool read_hold(const std::optional<NodeReader>& node) {
  if (node && node->text() != "zoh") {
    node->fail("must be zoh, not " + in_quotes(node->text()) +
               "; other holds are those of the method, -cosim_hold");
  }
  return node.has_value();
}

}  // namespace

bool is_variable_path(const std::string& text) {
  const std::size_t dot = text.find('.');
  return dot != std::string::npos && is_subsystem_name(std::string_view(text).substr(0, dot)) &&
         dot + 1 < text.size() && text.find_first_of(" \t\r\n") == std::string::npos;
}

void read_connections(const std::vector<NodeReader>& items, const Constants& constants,
                      const std::string& prefix, Model& model) {
  for (const NodeReader& item : items) {
    if (!item.is_map() || !find_field(item.fields("", item.what()), "connect")) {
      read_connection(item.text(), item, {}, constants, prefix, model);
      continue;
    }
    const Fields fields = item.fields_among(connection_keys);
    const NodeReader connect = field_of(fields, "connect");
    const auto repeat = find_field(fields, "repeat"), delay = find_field(fields, "delay");
    ConnectionEntry how;
    how.held = read_hold(find_field(fields, "hold"));
    if (!repeat) {
      how.delay = read_delay(delay, constants);
      read_connection(connect.text(), connect, how, constants, prefix, model);
      continue;
    }
    const std::vector<Repetition> rounds = repetitions(*repeat, constants);
    IndexedText text(connect.text(), rounds.front().index, constants, connect.location());
    Constants with_round = constants;
    for (const Repetition& each : rounds) {
      with_round.values[each.index] = static_cast<double>(each.value);
      how.delay = read_delay(delay, with_round);
      read_connection(text.in(each), connect, how, with_round, prefix, model);
    }
  }
}

}  // namespace concord
