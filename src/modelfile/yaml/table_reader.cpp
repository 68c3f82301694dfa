#include "modelfile/yaml/table_reader.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <variant>

#include "concord/errors.hpp"
#include "files/time_table.hpp"
#include "modelfile/yaml/model_keys.hpp"
#include "modelfile/yaml/results_rows.hpp"
#include "modelfile/yaml/table_words.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "subsystem/table/table_model.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"
#include "units/units.hpp"

namespace concord {
namespace {

using Fields = std::vector<Field>;

/// Rows, and which columns go out by which names.
struct Rows {
  TimeTable table;
  std::vector<TableDescription::Output> outputs;
  std::vector<std::vector<double>> columns;
};

void add_output(const std::string& name, const std::string& column, const NodeReader& node,
                Rows& rows) {
  const auto& names = rows.table.names;
  const auto found = std::find(names.begin(), names.end(), column);
  if (found == names.end()) {
    node.fail("names no column of the table: " + in_quotes(column) + "; " +
              known("columns", column, names));
  }
  const auto place = static_cast<std::size_t>(found - names.begin());
  const bool known_unit = !rows.table.units.empty() && is_known_unit(rows.table.units[place]);
  rows.outputs.push_back({name, known_unit ? rows.table.units[place] : ""});
  rows.columns.push_back(rows.table.columns[place]);
}

/// All columns of a file by their own names, where none are chosen.
Rows rows_of_table(const Fields& fields, const NodeReader& table,
                   const std::filesystem::path& path) {
  const auto time_column = find_field(fields, "time_column");
  Rows rows;
  rows.table = read_table(path, time_column ? time_column->text() : "");
  if (const auto chosen = find_field(fields, "outputs")) {
    for (const Field& field : chosen->named_fields("output", "")) {
      add_output(field.key, field.value.text(), field.value, rows);
    }
    return rows;
  }
  for (const std::string& name : rows.table.names) {
    if (!is_name(name)) {
      table.fail("has the column " + in_quotes(name) +
                 ", which is no name; choose outputs: {name: column}");
    }
    add_output(name, name, table, rows);
  }
  return rows;
}

/// The chosen variables of a results file, with their units.
Rows rows_of_results(const Fields& fields, const NodeReader& file,
                     const std::filesystem::path& path) {
  if (const auto time_column = find_field(fields, "time_column")) {
    time_column->fail("is for CSV files; a results file has one time");
  }
  const auto chosen = find_field(fields, "outputs");
  const Fields outputs = chosen ? chosen->named_fields("output", "") : Fields{};
  if (outputs.empty()) {
    file.fail("is a results file; choose outputs: {name: variable}");
  }
  Rows rows;
  std::vector<std::string> variables;
  for (const Field& field : outputs) {
    variables.push_back(field.value.text());
    rows.outputs.push_back({field.key, ""});
  }
  try {
    ResultsRows found = read_results_rows(path, variables);
    for (std::size_t i = 0; i < variables.size(); ++i) {
      rows.outputs[i].unit = found.units[i];
    }
    rows.table = std::move(found.table);
    rows.columns = rows.table.columns;
  } catch (const InputError& error) {
    throw InputError(chosen->location() + ": " + error.what());
  }
  return rows;
}

void read_units(const Fields& fields, Rows& rows) {
  const auto units = find_field(fields, "units");
  if (!units) {
    return;
  }
  for (const Field& field : units->named_fields("unit", "")) {
    const auto found = std::find_if(rows.outputs.begin(), rows.outputs.end(),
                                    [&](const auto& output) { return output.name == field.key; });
    if (found == rows.outputs.end()) {
      field.value.fail("is the unit of what is no output of the table");
    }
    found->unit = field.value.text();
  }
}

void check_rows(const TimeTable& rows, const NodeReader& table, Interpolation interpolation,
                bool repeats) {
  const bool one_time = rows.time.front() == rows.time.back();
  if (one_time && (repeats || interpolation == Interpolation::cubic)) {
    table.fail("needs rows at two times at least, to be repeated or cubic");
  }
  const auto twice = std::adjacent_find(rows.time.begin(), rows.time.end());
  if (interpolation == Interpolation::cubic && twice != rows.time.end()) {
    table.fail("has the time " + short_number(*twice) +
               " twice, which is a jump; a cubic has none: take linear or step");
  }
}

/// Times of a CSV file, whatever they are written in, in s.
void convert_time(const Fields& fields, bool of_results, TimeTable& rows) {
  const auto unit = find_field(fields, "time_unit");
  if (!unit) return;
  if (of_results) unit->fail("is for CSV files; a results file has its time in s");
  const auto conversion = unit_conversion(unit->text(), "s");
  const auto* found = std::get_if<UnitConversion>(&conversion);
  if (found == nullptr || unit->text().empty()) {
    unit->fail("must be a unit of time: ms, s, min, h, d; not " + in_quotes(unit->text()));
  }
  for (double& time : rows.time) time *= found->factor;
}

/// Events are known before the run, each with its time.
void refuse_endless(const TableDescription& table, double from, double to) {
  constexpr double most = 1e7;
  const double count = table.signals->count_of_events(from, to);
  if (count > most) {
    throw InputError(table.place + ": its rows, repeated up to t = " + short_number(to) +
                     " s, have about " + short_number(count) + " kinks and jumps, more than " +
                     short_number(most) +
                     "; make the experiment shorter, or say what repeats as equations of "
                     "mod(t, period)");
  }
}

/// "time_ms", "t [ms]"
bool says_milliseconds(const std::string& name) {
  const std::size_t at = name.rfind("ms");
  const auto is_letter = [&](std::size_t i) {
    return i < name.size() && std::isalpha(static_cast<unsigned char>(name[i])) != 0;
  };
  return at != name.npos && (at == 0 || !is_letter(at - 1)) && !is_letter(at + 2);
}

}  // namespace

SubsystemEntry table_entry(const std::string& name, const NodeReader& node, const NodeReader& table,
                           const Constants& constants) {
  const Fields fields = table.fields_among(table_keys);
  const NodeReader file = field_of(fields, "file");
  const std::filesystem::path path = file.folder() / file.text();
  if (std::error_code error; !std::filesystem::exists(path, error)) {
    file.fail("is not there: " + in_quotes(path.string()) + "; paths are relative to this file");
  }
  Rows rows = is_results_file(path) ? rows_of_results(fields, file, path)
                                    : rows_of_table(fields, table, path);
  read_units(fields, rows);
  convert_time(fields, is_results_file(path), rows.table);
  const auto interpolation = choice(fields, "interpolation", interpolations);
  const Beyond before = choice(fields, "before", rules_beyond),
               after = choice(fields, "after", rules_beyond);
  check_rows(rows.table, table, interpolation, before == Beyond::repeat || after == Beyond::repeat);
  const auto shift = find_field(fields, "shift");
  TableDescription description;
  description.place = node.location() + ": " + node.what();
  description.outputs = std::move(rows.outputs);
  description.signals =
      std::make_shared<const TableSignals>(std::move(rows.table.time), rows.columns, interpolation,
                                           before, after, shift ? shift->number(constants) : 0.0);
  SubsystemEntry entry;
  entry.location = node.location();
  entry.type.own().file = {"table", path};
  if (after != Beyond::repeat && after != Beyond::error) {
    entry.type.own().rows_end = description.signals->last();
  }
  if (says_milliseconds(rows.table.time_name) && !find_field(fields, "time_unit")) {
    entry.type.own().notes.push_back("its times, in the column " + in_quotes(rows.table.time_name) +
                                     ", are taken in s; say time_unit: ms");
  }
  entry.description = describe_ode(name, "table", make_table_model(description)->interface());
  entry.description.kinks = true;
  entry.type.own().events = [description](double from, double to, std::size_t /*among*/) {
    refuse_endless(description, from, to);
    return description.signals->events(from, to);
  };
  entry.type.own().table = std::make_shared<const TableDescription>(description);
  entry.type.own().create = [description, shown = entry.description](
                                const SubsystemEntry&, const SubsystemSettings& settings) {
    return make_ode_subsystem(shown, make_table_model(description), settings);
  };
  return entry;
}

}  // namespace concord
