#include "export/table_equations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "expression/map_function.hpp"
#include "expression/user_functions.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

constexpr double never = 1e300;  ///< s
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// What the table says between two rows, or beyond the first or the last one.
struct TablePiece {
  double origin;                        ///< s: its polynomials are of the time since then
  std::vector<Polynomial> polynomials;  ///< of each output
};

/// The rows laid out in order: what is before them, pieces between them, what is behind them. A leg
/// is what lies between two events: some pieces in a row. Legs of rows that are repeated are
/// counted on in further rounds, backwards too.
struct TableLayout {
  std::vector<TablePiece> pieces;
  std::vector<std::size_t> first;  ///< piece of each leg
  std::vector<double> ends;        ///< s, of each leg but the last

  std::size_t legs() const { return first.size(); }
  /// Of the rows.
  std::size_t in_a_round() const { return legs() - 2; }
  std::size_t last(std::size_t leg) const {
    return (leg + 1 < legs() ? first[leg + 1] : pieces.size()) - 1;
  }
  double begin(std::size_t piece) const { return pieces[piece].origin; }
};

Polynomial beyond(const TableSignals& rows, std::size_t signal, Beyond rule, bool after) {
  const std::size_t n = rows.times().size();
  const Polynomial& end = rows.piece(signal, after ? n - 1 : 0);
  if (rule == Beyond::error) return {{nothing}};
  if (rule != Beyond::linear || n < 2) return {{end.c[0]}};
  const double h = rows.times()[n - 1] - rows.times()[n - 2];
  return {{end.c[0], after ? rows.piece(signal, n - 2).derivative(h) : end.c[1]}};
}

TableLayout laid_out(const TableSignals& rows, std::size_t outputs) {
  const auto times = rows.times();
  const std::size_t n = times.size();
  TableLayout layout;
  const auto add = [&](double origin, const auto& polynomial_of) {
    TablePiece piece{origin, {}};
    for (std::size_t signal = 0; signal < outputs; ++signal)
      piece.polynomials.push_back(polynomial_of(signal));
    layout.pieces.push_back(std::move(piece));
  };
  const auto begin_leg = [&](double t) {
    layout.first.push_back(layout.pieces.size());
    layout.ends.push_back(t);
  };
  layout.first = {0};
  add(times.front(),
      [&](std::size_t signal) { return beyond(rows, signal, rows.before(), false); });
  const auto kinks = rows.kinks();
  const bool repeats = rows.before() == Beyond::repeat || rows.after() == Beyond::repeat;
  bool fresh = repeats || rows.before() == Beyond::error || rows.kink_at_first();
  for (std::size_t row = 0; row + 1 < n; ++row) {
    fresh = fresh || std::binary_search(kinks.begin(), kinks.end(), row);
    if (times[row + 1] == times[row]) continue;
    if (fresh) begin_leg(times[row]);
    fresh = false;
    add(times[row], [&](std::size_t signal) { return rows.piece(signal, row); });
  }
  const bool fails = rows.after() == Beyond::error;
  const double hardly_any = 1e-9 * std::max(times.back() - times.front(), std::abs(times.back()));
  if (fails && rows.ends_in_jump()) {  // what the last row says holds there, and nowhere behind it
    begin_leg(times.back());
    add(times.back(), [&](std::size_t signal) { return rows.piece(signal, n - 1); });
  }
  if (repeats || fails || rows.kink_at_last() || layout.ends.empty())
    begin_leg(fails ? times.back() + hardly_any : times.back());
  add(times.back(), [&](std::size_t signal) { return beyond(rows, signal, rows.after(), true); });
  return layout;
}

std::vector<double> counted(std::size_t n, double from = 0.0) {
  std::vector<double> result(n);
  std::iota(result.begin(), result.end(), from);
  return result;
}

/// Writes the equations; all names of its own begin with the same word.
class TableWriter {
 public:
  TableWriter(const std::string& subsystem, const TableDescription& table)
      : table_(table), rows_(*table.signals), layout_(laid_out(rows_, table.outputs.size())) {
    const auto clashes = [&](const TableDescription::Output& output) {
      return output.name.starts_with(own_ + "_");
    };
    while (std::any_of(table.outputs.begin(), table.outputs.end(), clashes)) own_ += '_';
    result_.subsystem = subsystem;
    result_.location = table.place;
  }

  EquationsDescription write(double start) {
    write_rounds();
    write_legs();
    write_piece();
    for (std::size_t signal = 0; signal < table_.outputs.size(); ++signal) write_output(signal);
    discrete(name("leg"), leg_at(start));
    functions_->complete();
    result_.functions = functions_;
    return std::move(result_);
  }

 private:
  std::string name(const std::string& word) const { return own_ + "_" + word; }
  bool repeats_before() const { return rows_.before() == Beyond::repeat; }
  bool repeats_after() const { return rows_.after() == Beyond::repeat; }
  double period() const { return rows_.last() - rows_.first(); }
  std::string number(std::size_t n) const { return exact_number(static_cast<double>(n)); }

  void variable(const std::string& own, const std::string& text) {
    result_.variables.push_back({own, text, table_.place});
  }
  void discrete(const std::string& own, double value) {
    result_.discrete.push_back({own, value, table_.place});
  }

  /// `values`, each from its point on up to the next one; the first one also before.
  void lookup(const std::string& own, std::vector<double> points, std::vector<double> values) {
    if (points.size() == 1) {
      points.push_back(points.front() + 1.0);
      values.push_back(values.front());
    }
    MapData data{own, "", {{"i", "", std::move(points)}}, std::move(values), Interpolation::step};
    data.kinks = MapData::Kinks::smooth;
    UserFunction function{own, {"i"}, table_.place, nullptr};
    function.map = std::make_shared<const MapFunction>(std::move(data));
    functions_->add(std::move(function));
  }

  /// How many rounds to go on from a leg's count, or back: whole, and 0 where nothing is repeated.
  std::string confined(const std::string& rounds) const {
    if (repeats_before() && repeats_after()) return rounds;
    return repeats_after() ? "max(0, " + rounds + ")" : "min(0, " + rounds + ")";
  }

  void write_rounds();
  void write_legs();
  void write_piece();
  void write_output(std::size_t signal);
  double leg_at(double t) const;

  const TableDescription& table_;
  const TableSignals& rows_;
  TableLayout layout_;
  std::string own_ = "table";
  std::string shifted_ = "0";  ///< s, by which the present round is later than the rows
  EquationsDescription result_;
  std::shared_ptr<UserFunctions> functions_ = std::make_shared<UserFunctions>();
};

/// Legs of the rows are counted from 0; -1 is what is before them.
void TableWriter::write_rounds() {
  const std::string leg = name("leg");
  if (!repeats_before() && !repeats_after()) {
    variable(name("index"), leg + " + 1");
    return;
  }
  const std::string n = number(layout_.in_a_round());
  variable(name("round"), "no_event(" + confined("floor(" + leg + "/" + n + ")") + ")");
  variable(name("index"), "no_event(min(max(1 + " + leg + " - " + n + "*" + name("round") +
                              ", 0), " + n + " + 1))");
  shifted_ = name("round") + "*" + exact_number(period());
  variable(name("later"), shifted_);
  shifted_ = name("later");
}

/// A leg ends at a known time. Who starts elsewhere than at `start` begins by looking for its leg.
void TableWriter::write_legs() {
  const std::size_t legs = layout_.legs();
  std::vector<double> begins = {-never}, ends = layout_.ends;
  begins.insert(begins.end(), ends.begin(), ends.end());
  ends.push_back(never);
  std::vector<double> further(ends.begin() + 1, ends.end());
  further.push_back(never);
  if (repeats_after()) further[legs - 2] = ends[1] + period();
  if (shifted_ != "0")  // by less than rounding of times far away
    for (double& begin : begins) begin -= 1e-9 * period();
  lookup(name("begin"), counted(legs), begins);
  lookup(name("end"), counted(legs), ends);
  lookup(name("further"), counted(legs), further);
  lookup(name("count"), layout_.ends, counted(legs - 1));
  const auto at = [&](const std::string& map) {
    return map + "(" + name("index") + ") + " + shifted_;
  };
  variable(name("from"), at(name("begin")));
  variable(name("to"), at(name("end")));
  std::string since = "t", legs_before = "0";
  if (shifted_ != "0") {
    variable(name("rounds"), "no_event(" +
                                 confined("floor((t - " + exact_number(rows_.first()) + ")/" +
                                          exact_number(period()) + ")") +
                                 ")");
    since = "t - " + name("rounds") + "*" + exact_number(period());
    legs_before = name("rounds") + "*" + number(layout_.in_a_round());
  }
  variable(name("since"), since);
  variable(name("found"), "no_event(" + legs_before + " + (" + name("since") + " < " +
                              exact_number(layout_.ends.front()) + " ? -1 : " + name("count") +
                              "(" + name("since") + ")))");
  const std::string elsewhere = "t < " + name("from");
  EquationsDescription::When when;
  when.condition = elsewhere + " || t >= " + name("to");
  when.initially = true;
  when.sets = {{name("leg"),
                elsewhere + " || t >= " + at(name("further")) + " ? " + name("found") + " : " +
                    name("leg") + " + 1",
                table_.place}};
  when.location = table_.place;
  result_.whens.push_back(std::move(when));
}

/// Within a leg the rows are looked up, but never beyond its ends.
void TableWriter::write_piece() {
  const std::size_t legs = layout_.legs(), n = layout_.pieces.size();
  std::string piece = name("index");
  if (n > legs) {
    std::vector<double> first, last, begins;
    for (std::size_t leg = 0; leg < legs; ++leg) {
      first.push_back(static_cast<double>(layout_.first[leg]));
      last.push_back(static_cast<double>(layout_.last(leg)));
    }
    for (std::size_t k = 1; k < n; ++k) begins.push_back(layout_.begin(k));
    if (begins.size() > 1 && begins.back() == begins[begins.size() - 2]) begins.pop_back();
    lookup(name("first"), counted(legs), first);
    lookup(name("last"), counted(legs), last);
    lookup(name("row"), begins, counted(begins.size(), 1.0));
    const std::string index = "(" + name("index") + ")";
    const std::string since = "(t - " + shifted_ + ")";
    piece = rows_.interpolation() == Interpolation::step
                ? name("first") + index
                : "no_event(max(" + name("first") + index + ", min(" + name("last") + index + ", " +
                      since + " < " + exact_number(rows_.first()) + " ? 0 : " + name("row") +
                      since + ")))";
  }
  variable(name("piece"), piece);
  std::vector<double> origins;
  for (const TablePiece& each : layout_.pieces) origins.push_back(each.origin);
  lookup(name("origin"), counted(n), std::move(origins));
  variable(name("tau"), "t - (" + name("origin") + "(" + name("piece") + ") + " + shifted_ + ")");
}

/// Horner's scheme.
void TableWriter::write_output(std::size_t signal) {
  const std::string& output = table_.outputs[signal].name;
  std::string text;
  for (std::size_t power = 4; power-- > 0;) {
    std::vector<double> values;
    for (const TablePiece& piece : layout_.pieces)
      values.push_back(piece.polynomials[signal].c[power]);
    const bool none = std::all_of(values.begin(), values.end(), [](double c) { return c == 0.0; });
    if (none && text.empty() && power > 0) continue;
    const std::string own = name("c" + std::to_string(power)) + "_" + output;
    lookup(own, counted(layout_.pieces.size()), std::move(values));
    text = own + "(" + name("piece") + ")" +
           (text.empty() ? "" : " + " + name("tau") + "*(" + text + ")");
  }
  result_.outputs.push_back({output, text, table_.place});
  if (!table_.outputs[signal].unit.empty())
    result_.units.push_back({output, table_.outputs[signal].unit, table_.place});
}

double TableWriter::leg_at(double t) const {
  double round = std::floor((t - rows_.first()) / period());
  if (!repeats_after()) round = std::min(round, 0.0);
  if (!repeats_before()) round = std::max(round, 0.0);
  if (!std::isfinite(round)) round = 0.0;
  const double since = t - round * period();
  const auto behind = std::upper_bound(layout_.ends.begin(), layout_.ends.end(), since);
  return round * static_cast<double>(layout_.in_a_round()) +
         static_cast<double>(behind - layout_.ends.begin()) - 1.0;
}

}  // namespace

EquationsDescription table_equations(const std::string& subsystem, const TableDescription& table,
                                     double start) {
  return TableWriter(subsystem, table).write(start);
}

EquationsDescription equations_of(const SubsystemEntry& entry, double start) {
  return entry.equations ? *entry.equations
                         : table_equations(entry.description.name, *entry.type->table, start);
}

}  // namespace concord
