#include "modelfile/yaml/map_reader.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "concord/errors.hpp"
#include "expression/map_function.hpp"
#include "expression/user_functions.hpp"
#include "files/number_rows.hpp"
#include "modelfile/yaml/model_keys.hpp"
#include "modelfile/yaml/results_rows.hpp"
#include "modelfile/yaml/table_words.hpp"

namespace concord {
namespace {

using Fields = std::vector<Field>;

/// Points, one per row, in columns that have names.
struct PointList {
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;
  std::vector<std::string> units;  ///< as many as names, or none

  std::size_t rows() const { return columns.front().size(); }
};

std::vector<std::string> texts_of(const std::optional<NodeReader>& node) {
  std::vector<std::string> result;
  if (node) {
    for (const NodeReader& item : node->items("input")) result.push_back(item.text());
  }
  return result;
}

/// A grid as points: values of the first input from above to below, of the second one from left to
/// right.
PointList points_of_grid(const std::vector<std::string>& names,
                         const std::vector<std::vector<double>>& inputs,
                         const std::vector<double>& values) {
  PointList points{names, std::vector<std::vector<double>>(names.size()), {}};
  for (std::size_t row = 0; row < values.size(); ++row) {
    std::size_t rest = row;
    for (std::size_t i = inputs.size(); i-- > 0;) {
      points.columns[i].push_back(inputs[i][rest % inputs[i].size()]);
      rest /= inputs[i].size();
    }
    points.columns.back().push_back(values[row]);
  }
  return points;
}

class MapReader {
 public:
  explicit MapReader(const Field& field)
      : map_(field.value),
        name_(field.key),
        fields_(map_.fields_among(map_keys)),
        inputs_(texts_of(find_field(fields_, "inputs"))) {}

  MapData read(std::vector<ModelFile>& files) {
    const auto file = find_field(fields_, "file"), points = find_field(fields_, "points");
    if (file.has_value() == points.has_value()) {
      map_.fail("needs either 'file', a CSV or results file, or 'points', {name: [numbers], ...}");
    }
    const PointList list = file ? of_file(*file, files) : of_points(*points);
    MapData data;
    data.name = name_;
    data.interpolation = choice(fields_, "interpolation", interpolations);
    data.outside = choice(fields_, "outside", rules_outside);
    const auto smooth = find_field(fields_, "smooth");
    data.kinks = smooth && smooth->flag() ? MapData::Kinks::smooth : MapData::Kinks::events;
    if (data.kinks == MapData::Kinks::smooth && data.interpolation == Interpolation::step) {
      smooth->fail("goes with linear and cubic; steps jump, and jumps are events");
    }
    take_grid(list, data);
    read_units(data);
    check_size(data);
    return data;
  }

 private:
  PointList of_file(const NodeReader& file, std::vector<ModelFile>& files);
  PointList of_csv(const NodeReader& file, const std::filesystem::path& path);
  PointList of_results(const NodeReader& file, const std::filesystem::path& path);
  PointList of_points(const NodeReader& points);
  void add_values(const NodeReader& node, std::vector<double>& values) const;
  std::size_t value_column(const PointList& list) const;
  std::vector<std::size_t> input_columns(const PointList& list, std::size_t value) const;
  std::size_t column(const NodeReader& node, const PointList& list, const std::string& name) const;
  void take_grid(const PointList& list, MapData& data);
  void take_values(const PointList& list, const std::vector<std::size_t>& columns,
                   std::size_t value, MapData& data) const;
  std::string words_of_point(const MapData& data, const std::vector<std::size_t>& place) const;
  void read_units(MapData& data) const;
  void check_size(const MapData& data) const;

  NodeReader map_;
  std::string name_;
  Fields fields_;
  std::vector<std::string> inputs_;  ///< as they are named; may be none
  std::string value_name_;
};

PointList MapReader::of_file(const NodeReader& file, std::vector<ModelFile>& files) {
  const std::filesystem::path path = file.folder() / file.text();
  if (std::error_code error; !std::filesystem::exists(path, error)) {
    file.fail("is not there: " + in_quotes(path.string()) + "; paths are relative to this file");
  }
  files.push_back({"map", path.string()});
  return is_results_file(path) ? of_results(file, path) : of_csv(file, path);
}

/// A list of points; or a grid, where the header has numbers: those of the second input.
PointList MapReader::of_csv(const NodeReader& file, const std::filesystem::path& path) {
  const NumberRows rows = read_number_rows(path);
  std::vector<double> second;
  for (std::size_t i = 1; i < rows.header.size(); ++i) {
    if (const auto number = parse_number(rows.header[i])) second.push_back(*number);
  }
  if (rows.rows.empty()) {
    file.fail("has no row of numbers below the header");
  }
  if (second.empty() || second.size() + 1 < rows.header.size()) {
    PointList list{rows.header, std::vector<std::vector<double>>(rows.header.size()), {}};
    for (const std::vector<double>& row : rows.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) list.columns[i].push_back(row[i]);
    }
    return list;
  }
  if (inputs_.size() != 2) {
    file.fail(
        "is a grid: its header has numbers; give inputs: [that of the rows, that of the "
        "columns]");
  }
  std::vector<double> first, values;
  for (const std::vector<double>& row : rows.rows) {
    first.push_back(row.front());
    values.insert(values.end(), row.begin() + 1, row.end());
  }
  return points_of_grid({inputs_[0], inputs_[1], name_}, {first, second}, values);
}

PointList MapReader::of_results(const NodeReader& file, const std::filesystem::path& path) {
  const auto value = find_field(fields_, "value");
  if (inputs_.empty() || !value) {
    file.fail("is a results file; give inputs: [variables] and value: variable");
  }
  std::vector<std::string> variables = inputs_;
  variables.push_back(value->text());
  try {
    ResultsRows found = read_results_rows(path, variables);
    return {std::move(variables), std::move(found.table.columns), std::move(found.units)};
  } catch (const InputError& error) {
    throw InputError(file.location() + ": " + error.what());
  }
}

/// Numbers of a list, of lists of these, and so on, one behind the other.
void MapReader::add_values(const NodeReader& node, std::vector<double>& values) const {
  if (!node.is_list()) {
    values.push_back(node.number(Constants{}));
    return;
  }
  for (const NodeReader& item : node.items(node.what())) add_values(item, values);
}

PointList MapReader::of_points(const NodeReader& points) {
  PointList list;
  for (const Field& field : points.fields("points of", "")) {
    if (!field.value.is_list()) field.value.fail("must be a list of numbers");
    list.names.push_back(field.key);
    add_values(field.value, list.columns.emplace_back());
  }
  if (list.names.size() < 2) {
    points.fail("needs its inputs and its value: {speed: [0, 100], torque: [5, 3]}");
  }
  const std::size_t value = value_column(list);
  std::vector<std::string> names;
  std::vector<std::vector<double>> inputs;
  bool is_list = true;
  std::size_t all = 1;
  for (const std::size_t input : input_columns(list, value)) {
    names.push_back(list.names[input]);
    inputs.push_back(list.columns[input]);
    is_list = is_list && list.columns[input].size() == list.columns[value].size();
    all *= inputs.back().size();
  }
  if (is_list) {
    return list;
  }
  if (all != list.columns[value].size()) {
    points.fail("has " + std::to_string(list.columns[value].size()) + " values of " +
                in_quotes(list.names[value]) + "; its inputs make " + std::to_string(all) +
                ", that of the last input running fastest");
  }
  names.push_back(list.names[value]);
  return points_of_grid(names, inputs, list.columns[value]);
}

std::size_t MapReader::column(const NodeReader& node, const PointList& list,
                              const std::string& name) const {
  const auto found = std::ranges::find(list.names, name);
  if (found == list.names.end()) {
    node.fail("names no column: " + in_quotes(name) + "; " + known("columns", name, list.names));
  }
  return static_cast<std::size_t>(found - list.names.begin());
}

/// That which is named, which has the map's name, or the last one that is no input.
std::size_t MapReader::value_column(const PointList& list) const {
  if (const auto value = find_field(fields_, "value")) {
    return column(*value, list, value->text());
  }
  if (const auto found = std::ranges::find(list.names, name_); found != list.names.end()) {
    return static_cast<std::size_t>(found - list.names.begin());
  }
  for (std::size_t i = list.names.size(); i-- > 0;) {
    if (std::ranges::find(inputs_, list.names[i]) == inputs_.end()) return i;
  }
  map_.fail("has no column for its value; give value: column");
}

std::vector<std::size_t> MapReader::input_columns(const PointList& list, std::size_t value) const {
  std::vector<std::size_t> result;
  for (const std::string& input : inputs_) {
    result.push_back(column(*find_field(fields_, "inputs"), list, input));
  }
  for (std::size_t i = 0; i < list.names.size() && inputs_.empty(); ++i) {
    if (i != value) result.push_back(i);
  }
  const bool twice = std::ranges::any_of(
      result, [&](std::size_t i) { return i == value || std::ranges::count(result, i) > 1; });
  if (result.empty() || result.size() > 3 || twice) {
    map_.fail("must have one to three inputs, each once, beside its value " +
              in_quotes(list.names[value]) + ", not " + std::to_string(result.size()) +
              "; choose inputs: [columns]");
  }
  return result;
}

std::string MapReader::words_of_point(const MapData& data,
                                      const std::vector<std::size_t>& place) const {
  std::string result;
  for (std::size_t i = 0; i < place.size(); ++i) {
    result += (i == 0 ? "" : ", ") + data.inputs[i].name + " = " +
              short_number(data.inputs[i].points[place[i]]);
  }
  return result;
}

void MapReader::take_grid(const PointList& list, MapData& data) {
  const std::size_t value = value_column(list);
  const std::vector<std::size_t> columns = input_columns(list, value);
  value_name_ = list.names[value];
  for (const std::size_t column : columns) {
    MapData::Input input{list.names[column], list.units.empty() ? "" : list.units[column],
                         list.columns[column]};
    std::ranges::sort(input.points);
    input.points.erase(std::unique(input.points.begin(), input.points.end()), input.points.end());
    if (input.points.empty()) {
      map_.fail("has no points; a map needs two at least along each input");
    }
    if (input.points.size() < 2) {
      map_.fail("has one value of " + in_quotes(input.name) + " only, " +
                short_number(input.points.front()) + "; a map needs two at least along each input");
    }
    data.inputs.push_back(std::move(input));
  }
  data.unit = list.units.empty() ? "" : list.units[value];
  take_values(list, columns, value, data);
}

/// A point may be there more than once, with one value.
void MapReader::take_values(const PointList& list, const std::vector<std::size_t>& columns,
                            std::size_t value, MapData& data) const {
  std::map<std::vector<std::size_t>, double> values;
  for (std::size_t row = 0; row < list.rows(); ++row) {
    std::vector<std::size_t> place;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::vector<double>& points = data.inputs[i].points;
      const auto found = std::ranges::lower_bound(points, list.columns[columns[i]][row]);
      place.push_back(static_cast<std::size_t>(found - points.begin()));
    }
    const double here = list.columns[value][row];
    const auto [known, is_new] = values.emplace(std::move(place), here);
    if (known->second != here) {
      map_.fail("has two values at " + words_of_point(data, known->first) + ": " +
                short_number(known->second) + " and " + short_number(here));
    }
  }
  std::vector<std::size_t> place(columns.size(), 0);
  for (auto next = values.begin();; ++next) {
    if (next == values.end() || next->first != place) {
      map_.fail("has no value at " + words_of_point(data, place) +
                "; its points must be a grid, with a value at each combination of what its inputs "
                "are");
    }
    data.values.push_back(next->second);
    std::size_t i = columns.size();
    while (i > 0 && ++place[i - 1] == data.inputs[i - 1].points.size()) place[--i] = 0;
    if (i == 0) return;
  }
}

void MapReader::read_units(MapData& data) const {
  const auto units = find_field(fields_, "units");
  if (!units) {
    return;
  }
  for (const Field& field : units->fields("unit of", "")) {
    const std::string unit = field.value.is_null() ? "" : field.value.text();
    const auto input = std::ranges::find(data.inputs, field.key, &MapData::Input::name);
    if (input != data.inputs.end()) {
      input->unit = unit;
    } else if (field.key == value_name_ || field.key == name_) {
      data.unit = unit;
    } else {
      std::vector<std::string> names = names_of(data.inputs);
      names.push_back(name_);
      field.value.fail("is the unit of what the map does not know; " +
                       known("names", field.key, names));
    }
  }
}

void MapReader::check_size(const MapData& data) const {
  constexpr double most = 1e8;  // numbers
  const double powers = data.interpolation == Interpolation::cubic ? 4.0 : 2.0;
  const double numbers = static_cast<double>(data.values.size()) *
                         std::pow(powers, static_cast<double>(data.inputs.size()));
  if (numbers > most) {
    map_.fail("would take " + short_number(numbers) + " coefficients, more than " +
              short_number(most) + "; give it fewer points, or interpolation: linear");
  }
}

UserFunction function_of(MapData data, const std::string& location) {
  UserFunction function{data.name, {}, location, nullptr};
  for (const MapData::Input& input : data.inputs) {
    function.arguments.push_back(is_name(input.name)
                                     ? input.name
                                     : "input_" + std::to_string(function.arguments.size() + 1));
  }
  function.map = std::make_shared<const MapFunction>(std::move(data));
  return function;
}

}  // namespace

void read_maps(const std::vector<Field>& fields, std::span<const std::string> parameters,
               Constants& known, std::vector<ModelFile>& files) {
  if (fields.empty()) {
    return;
  }
  auto functions = known.functions ? std::make_shared<UserFunctions>(*known.functions)
                                   : std::make_shared<UserFunctions>();
  for (const Field& field : fields) {
    refuse_taken_name(field);
    if (std::ranges::find(parameters, field.key) != parameters.end()) {
      throw InputError(field.key_location + ": " + field.value.what() +
                       " clashes with the parameter of that name; choose another name");
    }
    if (!functions->add(function_of(MapReader(field).read(files), field.key_location))) {
      throw InputError(field.key_location + ": " + field.value.what() +
                       " is there twice, also at " + functions->find(field.key)->location +
                       "; remove one");
    }
  }
  known.functions = std::move(functions);
}

}  // namespace concord
