#include "modelfile/yaml/initial_reader.hpp"

#include <algorithm>
#include <iterator>

#include "modelfile/yaml/connections_reader.hpp"
#include "modelfile/yaml/model_keys.hpp"
#include "modelfile/yaml/repetition.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Fields = std::vector<Field>;

void require_path(const NodeReader& node, const std::string& name) {
  if (!is_variable_path(name))
    node.fail("must name states, parameters or inputs as 'subsystem.variable', not " +
              in_quotes(name));
}

std::vector<std::string> read_free(const NodeReader& node) {
  std::vector<NodeReader> names = {node};
  if (node.is_list()) names = node.items(node.what());
  std::vector<std::string> result;
  for (const NodeReader& name : names) result.push_back(name.text());
  return result;
}

}  // namespace

void read_initial(const std::vector<NodeReader>& items, const Constants& constants,
                  const std::string& prefix, Model& model) {
  for (const NodeReader& item : items) {
    InitialEntry entry;
    entry.prefix = prefix;
    entry.constants = constants.values;
    entry.functions = constants.functions;
    entry.location = item.location();
    if (!item.is_map()) {
      entry.equation = item.text();
      model.initial.push_back(std::move(entry));
      continue;
    }
    const Fields fields = item.fields_among(initial_keys);
    entry.equation = field_of(fields, "equation").text();
    if (const auto free = find_field(fields, "free")) entry.free = read_free(*free);
    const auto repeat = find_field(fields, "repeat");
    const auto check_free = [&] {
      if (!entry.free) return;
      for (const std::string& name : *entry.free) require_path(field_of(fields, "free"), name);
    };
    if (!repeat) {
      check_free();
      model.initial.push_back(std::move(entry));
      continue;
    }
    const std::vector<Repetition> rounds = repetitions(*repeat, constants);
    const auto indexed = [&](const std::string& text) {
      return IndexedText(text, rounds.front().index, constants, entry.location);
    };
    IndexedText equation = indexed(entry.equation);
    std::vector<IndexedText> free;
    if (entry.free) std::ranges::transform(*entry.free, std::back_inserter(free), indexed);
    for (const Repetition& round : rounds) {
      entry.equation = equation.in(round);
      for (std::size_t i = 0; i < free.size(); ++i) (*entry.free)[i] = free[i].in(round);
      check_free();
      entry.constants[round.index] = static_cast<double>(round.value);
      model.initial.push_back(entry);
    }
  }
}

}  // namespace concord
