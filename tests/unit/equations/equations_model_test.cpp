#include "subsystem/equations/equations_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <limits>

#include "concord/errors.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "subsystem/sparse_linearization.hpp"

namespace concord {
namespace {

/// The left mass of the two-mass oscillator of the contract.
EquationsDescription left_mass() {
  return {.subsystem = "left",
          .location = "m.yaml:4",
          .parameters = {{"m", 5.0, "m.yaml:6"}, {"c", 1e4, "m.yaml:6"}, {"d", 10.0, "m.yaml:6"}},
          .inputs = {{"f", 20000.0, "m.yaml:7"}, {"load", std::nullopt, "m.yaml:7"}},
          .states = {{"x", 1.0, "m.yaml:8"}, {"v", 0.5, "m.yaml:8"}},
          .derivatives = {{"v", "(f + load - c*x - d*v)/m", "m.yaml:9"}, {"x", "v", "m.yaml:9"}},
          .outputs = {{"x", "x", "m.yaml:10"},
                      {"power", "f*v + load*0", "m.yaml:10"},
                      {"clock", "t", "m.yaml:10"}},
          .units = {{"x", "m", "m.yaml:11"}, {"f", "N", "m.yaml:11"}, {"m", "kg", "m.yaml:11"}}};
}

std::string error_of(const EquationsDescription& description) {
  try {
    EquationsModel model(description);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(EquationsModel, evaluates_f_and_g) {
  EquationsModel model(left_mass());
  const double x[] = {2.0, 3.0};
  const double u[] = {100.0, 7.0};
  double dxdt[2], y[3];
  model.derivatives(0.25, x, u, dxdt);
  EXPECT_EQ(dxdt[0], 3.0);
  EXPECT_DOUBLE_EQ(dxdt[1], (100.0 + 7.0 - 1e4 * 2.0 - 10.0 * 3.0) / 5.0);
  model.outputs(0.25, x, u, y);
  EXPECT_EQ(y[0], 2.0);
  EXPECT_EQ(y[1], 300.0);
  EXPECT_EQ(y[2], 0.25);
}

TEST(EquationsModel, describes_its_interface) {
  const OdeInterface interface = EquationsModel(left_mass()).interface();
  ASSERT_EQ(interface.inputs.size(), 2u);
  EXPECT_EQ(interface.inputs[0].name, "f");
  EXPECT_EQ(interface.inputs[0].unit, "N");
  EXPECT_EQ(interface.inputs[0].start, 20000.0);
  EXPECT_FALSE(interface.inputs[1].start.has_value());
  ASSERT_EQ(interface.states.size(), 2u);
  EXPECT_EQ(interface.states[1].name, "v");
  EXPECT_EQ(interface.states[1].start, 0.5);
  EXPECT_EQ(interface.states[0].unit, "m");
  ASSERT_EQ(interface.outputs.size(), 3u);
  EXPECT_EQ(interface.outputs[0].unit, "m");
  EXPECT_EQ(interface.outputs[1].unit, "");
}

TEST(EquationsModel, lists_inputs_that_outputs_use_as_feedthrough) {
  const auto feedthrough = EquationsModel(left_mass()).interface().feedthrough;
  ASSERT_TRUE(feedthrough.has_value());
  ASSERT_EQ(feedthrough->size(), 2u);
  EXPECT_EQ((*feedthrough)[0].output, 1u);
  EXPECT_EQ((*feedthrough)[0].input, 0u);
  EXPECT_EQ((*feedthrough)[1].output, 1u);
  EXPECT_EQ((*feedthrough)[1].input, 1u);
}

TEST(EquationsModel, without_feedthrough_says_so) {
  EquationsDescription description = left_mass();
  description.outputs = {{"x", "x + m", "m.yaml:10"}};
  const auto feedthrough = EquationsModel(description).interface().feedthrough;
  ASSERT_TRUE(feedthrough.has_value());
  EXPECT_TRUE(feedthrough->empty());
}

TEST(EquationsModel, may_have_no_state_or_no_output) {
  EquationsDescription description;
  description.inputs = {{"u", 0.0, ""}};
  description.outputs = {{"y", "2*u", ""}};
  EquationsModel gain(description);
  const double u[] = {4.0};
  double y[1];
  gain.derivatives(0.0, {}, u, {});
  gain.outputs(0.0, {}, u, y);
  EXPECT_EQ(y[0], 8.0);
}

TEST(EquationsModel, lets_division_by_zero_be_infinite) {
  EquationsDescription description = left_mass();
  description.derivatives.own()[0].text = "1/x";
  EquationsModel model(description);
  const double x[] = {0.0, 0.0}, u[] = {0.0, 0.0};
  double dxdt[2];
  model.derivatives(0.0, x, u, dxdt);
  EXPECT_TRUE(std::isinf(dxdt[1]));
}

TEST(EquationsModel, names_place_variable_and_symbol_of_a_bad_expression) {
  EquationsDescription description = left_mass();
  description.derivatives.own()[0].text = "(f + laod - c*x)/m";
  EXPECT_EQ(error_of(description),
            "m.yaml:9: subsystem 'left', derivative of 'v': unknown name 'laod'; did you mean "
            "'load'? known names: c, d, f, load, m, t, v, x (position 6 of '(f + laod - c*x)/m')");
}

TEST(EquationsModel, rejects_names_that_clash) {
  EquationsDescription description = left_mass();
  description.parameters.push_back({"sin", 1.0, "m.yaml:6"});
  EXPECT_NE(error_of(description)
                .find("m.yaml:6: subsystem 'left': parameter 'sin' clashes with "
                      "the function"),
            std::string::npos);
  description = left_mass();
  description.inputs.push_back({"pi", 1.0, "m.yaml:7"});
  EXPECT_NE(error_of(description).find("input 'pi' clashes"), std::string::npos);
  description = left_mass();
  description.states.push_back({"t", 1.0, "m.yaml:8"});
  EXPECT_NE(error_of(description).find("state 't' clashes with the time"), std::string::npos);
  description = left_mass();
  description.states.push_back({"time", 1.0, "m.yaml:8"});
  EXPECT_NE(error_of(description).find("state 'time' clashes with the time"), std::string::npos);
  description = left_mass();
  description.states.push_back({"m", 1.0, "m.yaml:8"});
  EXPECT_NE(error_of(description).find("state 'm' clashes with parameter"), std::string::npos);
  description = left_mass();
  description.outputs.push_back({"x", "v", "m.yaml:10"});
  EXPECT_NE(error_of(description).find("output 'x' is there twice"), std::string::npos);
  description = left_mass();
  description.derivatives.push_back({"x", "v", "m.yaml:9"});
  EXPECT_NE(error_of(description).find("derivative 'x' is there twice"), std::string::npos);
}

TEST(EquationsModel, wants_one_derivative_per_state) {
  EquationsDescription description = left_mass();
  description.derivatives.own().pop_back();
  EXPECT_EQ(error_of(description).find("m.yaml:8: subsystem 'left': state 'x' has no derivative"),
            0u);
  description = left_mass();
  description.derivatives.push_back({"speed", "v", "m.yaml:9"});
  EXPECT_EQ(error_of(description)
                .find("m.yaml:9: subsystem 'left': derivative of 'speed', which is not a state"),
            0u);
}

TEST(EquationsModel, rejects_units_of_unknown_names) {
  EquationsDescription description = left_mass();
  description.units.push_back({"powre", "W", "m.yaml:11"});
  const std::string message = error_of(description);
  EXPECT_EQ(message.find("m.yaml:11: subsystem 'left': unit of an unknown name 'powre'"), 0u);
  EXPECT_NE(message.find("did you mean 'power'?"), std::string::npos);
}

/// p V = n R T in SI units, leaking.
EquationsDescription gas() {
  return {.subsystem = "gas",
          .location = "",
          .parameters = {{"k", 1.380649e-23, ""}},
          .inputs = {{"w", 0.5, ""}},
          .states = {{"n", 2.4e25, ""}, {"T", 300.0, ""}},
          .derivatives = {{"n", "2.4e25*w*sin(t)", ""}, {"T", "0.1*(400 - T) + 1e-27*n*w^2", ""}},
          .outputs = {{"p", "k*n*T + w*t^2", ""}},
          .units = {}};
}

TEST(EquationsModel, derives_exactly_however_small_the_coefficients_are) {
  EquationsModel model(gas());
  const double t = 0.7, x[] = {2.4e25, 300.0}, u[] = {0.5}, k = 1.380649e-23;
  double f_x[4], f_u[2], g_x[2], g_u[1], f_t[2], g_t[1], slope[1];
  ASSERT_TRUE(model.jacobians(t, x, u, {f_x, f_u, g_x, g_u}));
  EXPECT_EQ(f_x[0], 0.0);
  EXPECT_EQ(f_x[1], 0.0);
  EXPECT_DOUBLE_EQ(f_x[2], 1e-27 * 0.25);
  EXPECT_DOUBLE_EQ(f_x[3], -0.1);
  EXPECT_DOUBLE_EQ(f_u[0], 2.4e25 * std::sin(t));
  EXPECT_DOUBLE_EQ(f_u[1], 1e-27 * 2.4e25 * 2.0 * 0.5);
  EXPECT_DOUBLE_EQ(g_x[0], k * 300.0);
  EXPECT_DOUBLE_EQ(g_x[1], k * 2.4e25);
  EXPECT_DOUBLE_EQ(g_u[0], t * t);
  ASSERT_TRUE(model.time_derivatives(t, x, u, {f_t, g_t}));
  EXPECT_DOUBLE_EQ(f_t[0], 2.4e25 * 0.5 * std::cos(t));
  EXPECT_EQ(f_t[1], 0.0);
  EXPECT_DOUBLE_EQ(g_t[0], 0.5 * 2.0 * t);
  const double dxdt[] = {1e24, -3.0}, dudt[] = {0.25};
  ASSERT_TRUE(model.output_slopes(t, x, u, {dxdt, dudt}, slope));
  EXPECT_DOUBLE_EQ(slope[0], k * (1e24 * 300.0 - 3.0 * 2.4e25) + 0.25 * t * t + 0.5 * 2.0 * t);
}

TEST(EquationsModel, slopes_of_outputs_need_no_jacobians_of_many_states) {
  EquationsDescription description;
  constexpr std::size_t n = 3000;
  std::string sum = "0";
  for (std::size_t i = 0; i < n; ++i) {
    const std::string name = "x" + std::to_string(i);
    description.states.push_back({name, 0.1, ""});
    description.derivatives.push_back({name, "-" + name + "^2", ""});
    sum += " + sin(" + name + ")";
  }
  description.outputs = {{"y", sum, ""}};
  EquationsModel model(description);
  const std::vector<double> x(n, 0.5), dxdt(n, 2.0);
  double slope[1];
  ASSERT_TRUE(model.output_slopes(0.0, x, {}, {dxdt, {}}, slope));
  EXPECT_NEAR(slope[0], 2.0 * n * std::cos(0.5), 1e-9);
}

TEST(EquationsModel, is_fast) {
  EquationsModel model(left_mass());
  double x[] = {1.0, 0.0}, u[] = {0.0, 0.0}, dxdt[2], sum = 0.0;
  const std::clock_t begin = std::clock();  // the processor's: others may be at work
  constexpr int count = 200000;
  for (int i = 0; i < count; ++i) {
    x[0] += 1e-9;
    model.derivatives(0.0, x, u, dxdt);
    sum += dxdt[1];
  }
  const double each = 1e9 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / count;
  RecordProperty("nanoseconds_per_evaluation", std::to_string(each));
  EXPECT_LT(each, 2000.0) << sum;
}

/// Adds up what it sees with a weight that moves, and forgets a part of the sum.
EquationsDescription meter() {
  return {.subsystem = "meter",
          .location = "m.yaml:4",
          .parameters = {},
          .inputs = {{"u", 0.0, "m.yaml:5"}},
          .states = {{"x", 2.0, "m.yaml:6"}},
          .derivatives = {{"x", "s*u", "m.yaml:7"}},
          .outputs = {{"y", "x + s^2", "m.yaml:8"}},
          .discrete = {{"s", 3.0, "m.yaml:9"}},
          .whens = {{.condition = {},
                     .every = 1.0,
                     .sets = {{"s", "0.9*s + t*x*u", "m.yaml:10"}, {"x", "x/2", "m.yaml:10"}},
                     .location = "m.yaml:10"}},
          .units = {}};
}

/// One pass at an instant.
void pass(EquationsModel& model, double t, std::span<double> x, std::span<const double> u) {
  const double dxdt[] = {0.0}, dudt[] = {0.0};
  std::vector<Happening> what;
  model.happen({t, u, {dxdt, dudt}, 1e-9}, x, what);
}

TEST(EquationsModel, tells_how_what_was_set_depends_on_what_was_there) {
  EquationsModel model(meter());
  double x[] = {2.0};
  const double u[] = {5.0};
  std::vector<Happening> what;
  const double dxdt[] = {0.0}, dudt[] = {0.0};
  model.begin(0.5, x, u);
  model.settle({0.5, u, {dxdt, dudt}, 1e-9}, x, what);
  model.begin_instant();
  pass(model, 1.0, x, u);
  const auto jumps = model.jumps(1.0);
  ASSERT_EQ(jumps.size(), 2u);
  using Entries = std::vector<std::pair<std::uint32_t, double>>;
  EXPECT_FALSE(jumps[0].state);
  EXPECT_EQ(jumps[0].by, (Entries{{0, 10.0}, {1, 5.0}, {2, 2.0}, {3, 0.9}}));  // t, x, u, s
  EXPECT_TRUE(jumps[1].state);
  EXPECT_EQ(jumps[1].by, (Entries{{1, 0.5}}));
  EXPECT_EQ(jumps[0].pass, jumps[1].pass);
  EXPECT_TRUE(model.jumps(1.5).empty());
  model.begin_instant();  // another one at the same time: what has been set stays set
  pass(model, 1.0, x, u);
  EXPECT_TRUE(model.jumps(1.0).empty());
}

TEST(EquationsModel, passes_errors_of_discrete_variables_on) {
  EquationsModel model(meter());
  const double x[] = {2.0}, u[] = {5.0}, wrong[] = {0.25};
  double f[1], g[1];
  model.discrete_slopes(0.0, x, u, wrong, f, g);
  EXPECT_DOUBLE_EQ(f[0], 5.0 * 0.25);
  EXPECT_DOUBLE_EQ(g[0], 2.0 * 3.0 * 0.25);
}

TEST(EquationsModel, shares_what_is_compiled_with_those_that_differ_in_name_and_start) {
  EquationsDescription other = left_mass();
  other.subsystem = "another";
  other.states.own()[0].value = 7.0;
  EquationsModel one(left_mass()), two(other);
  EXPECT_EQ(one.code(), two.code());
  EXPECT_NE(one.interface().states[0].start, 7.0);
  EXPECT_EQ(two.interface().states[0].start, 7.0);
  EXPECT_TRUE(one.interface().inputs.shares_with(two.interface().inputs));
  two.set_parameter(0, 1e3);
  EXPECT_NE(one.code(), two.code());
  EXPECT_NE(one.parameter(0), two.parameter(0));
}

TEST(EquationsModel, keeps_its_own_discrete_variables_where_others_evaluate_in_between) {
  EquationsDescription other = meter();
  other.discrete.own()[0].value = 100.0 + *other.discrete[0].value;
  EquationsModel one(meter()), two(other);
  ASSERT_EQ(one.code(), two.code());
  const double x[] = {2.0}, u[] = {5.0};
  double alone[1], between[1], again[1];
  one.derivatives(0.0, x, u, alone);
  two.derivatives(0.0, x, u, between);
  one.derivatives(0.0, x, u, again);
  EXPECT_NE(alone[0], between[0]);
  EXPECT_EQ(alone[0], again[0]);
}

/// Rows of a pattern's entries as a whole matrix.
std::vector<double> whole_matrix(const RowPattern& pattern, std::span<const double> entries,
                                 std::size_t columns) {
  std::vector<double> result(pattern.rows() * columns);
  for (std::size_t row = 0; row < pattern.rows(); ++row)
    for (int e = pattern.begins[row]; e < pattern.begins[row + 1]; ++e)
      result[row * columns + static_cast<std::size_t>(pattern.columns[e])] = entries[e];
  return result;
}

TEST(EquationsModel, has_the_entries_of_its_linearisation_or_fails) {
  auto model = std::make_unique<EquationsModel>(EquationsDescription{
      .subsystem = "s",
      .location = "",
      .parameters = {{"k", 3.0, ""}},
      .inputs = {{"u", 0.4, ""}, {"w", 2.0, ""}},
      .states = {{"x", 0.5, ""}, {"p", 0.1, ""}, {"q", 0.2, ""}},
      .derivatives = {{"x", "-x^2*u*t", ""}, {"p", "q", ""}, {"q", "-k*p*w", ""}},
      .outputs = {{"a", "p*t", ""}, {"b", "x*sin(u)", ""}, {"c", "log(w)", ""}},
      .variables = {},
      .units = {}});
  SubsystemDescription description = describe_ode("s", "equations", model->interface());
  const auto subsystem = make_ode_subsystem(std::move(description), std::move(model), {});
  auto& sparse = dynamic_cast<LinearizesSparsely&>(*subsystem);
  subsystem->start({0.5, 0.51}, 1.0);
  const std::vector<Sample> inputs{{0.4, 1.0}, {2.0, -1.0}};
  const auto pattern = sparse.linear_pattern();
  ASSERT_NE(pattern, nullptr);
  EXPECT_EQ(pattern->entries(), 3u + 2u + 2u + 2u);
  Linearization whole, entries;
  ASSERT_EQ(subsystem->linearize(inputs, whole), Outcome::ok);
  ASSERT_EQ(sparse.linearize_entries(inputs, *pattern, entries), Outcome::ok);
  EXPECT_EQ(whole_matrix(pattern->f_x, entries.f_x, 3), whole.f_x);
  EXPECT_EQ(whole_matrix(pattern->f_u, entries.f_u, 2), whole.f_u);
  EXPECT_EQ(whole_matrix(pattern->g_x, entries.g_x, 3), whole.g_x);
  EXPECT_EQ(whole_matrix(pattern->g_u, entries.g_u, 2), whole.g_u);
  EXPECT_EQ(entries.f, whole.f);
  EXPECT_EQ(entries.g, whole.g);
  EXPECT_EQ(entries.f_t, whole.f_t);
  EXPECT_EQ(entries.g_t, whole.g_t);
  EXPECT_NEAR(entries.f_t[0], -0.25 * 0.4, 1e-9);
  const std::vector<Sample> outside{{0.4, 1.0}, {-1.0, 0.0}};  // log(w)
  EXPECT_EQ(sparse.linearize_entries(outside, *pattern, entries), Outcome::failed);
}

/// Column by column, the diagonal always among them.
TEST(EquationsModel, has_the_entries_of_its_states_and_their_diagonal) {
  EquationsModel model(
      {.subsystem = "s",
       .location = "",
       .parameters = {},
       .inputs = {{"u", 0.0, ""}},
       .states = {{"x", 0.5, ""}, {"p", 0.1, ""}, {"q", 0.2, ""}},
       .derivatives = {{"x", "-x^2*q", ""}, {"p", "q*u", ""}, {"q", "-7*p + t", ""}},
       .outputs = {{"y", "x", ""}},
       .variables = {},
       .units = {}});
  const auto pattern = model.state_pattern();
  ASSERT_NE(pattern, nullptr);
  EXPECT_EQ(pattern->begins, (std::vector<std::int64_t>{0, 1, 3, 6}));
  EXPECT_EQ(pattern->rows, (std::vector<std::int64_t>{0, 1, 2, 0, 1, 2}));
  const double x[] = {2.0, 3.0, 5.0}, u[] = {11.0};
  std::vector<double> entries(pattern->rows.size(), 99.0), whole(9, 0.0);
  model.state_entries(0.0, x, u, entries);
  for (std::size_t j = 0; j < 3; ++j)
    for (auto e = pattern->begins[j]; e < pattern->begins[j + 1]; ++e)
      whole[3 * pattern->rows[e] + j] = entries[e];
  EXPECT_EQ(whole, (std::vector<double>{-20.0, 0.0, -4.0, 0.0, 0.0, 11.0, 0.0, -7.0, 0.0}));
}

/// part actual + (1 - part) simplified, with exact derivatives; relations are those of actual.
TEST(EquationsModel, goes_along_a_homotopy) {
  EquationsDescription description;
  description.inputs = {{"u", 0.0, ""}};
  description.states = {{"x", 0.0, ""}};
  description.variables = {{"v", "homotopy(x > 1 ? x^2 : u^3, 3*u*abs(x))", ""}};
  description.derivatives = {{"x", "v*u", ""}};
  description.outputs = {{"y", "homotopy(sqrt(x), 7) + min(x, 100)", ""}};
  EquationsModel model(description);
  const double x[] = {4.0}, u[] = {5.0};
  model.begin(0.0, x, u);
  const std::size_t relations = model.indicator_count();
  EXPECT_EQ(relations, 2);
  for (const double part : {0.0, 0.25, 1.0, 0.5, 1.0}) {
    ASSERT_TRUE(model.go_along_homotopy(part));
    EXPECT_EQ(model.indicator_count(), relations);
    double f = 0.0, g = 0.0, f_x = 0.0, f_u = 0.0, g_x = 0.0, g_u = 0.0;
    model.derivatives(0.0, x, u, {&f, 1});
    model.outputs(0.0, x, u, {&g, 1});
    EXPECT_DOUBLE_EQ(f, (part * 16.0 + (1.0 - part) * 60.0) * 5.0);
    EXPECT_DOUBLE_EQ(g, part * 2.0 + (1.0 - part) * 7.0 + 4.0);
    ASSERT_TRUE(model.jacobians(0.0, x, u, {{&f_x, 1}, {&f_u, 1}, {&g_x, 1}, {&g_u, 1}}));
    EXPECT_DOUBLE_EQ(f_x, (part * 8.0 + (1.0 - part) * 15.0) * 5.0);
    EXPECT_DOUBLE_EQ(f_u, part * 16.0 + (1.0 - part) * 120.0);
    EXPECT_DOUBLE_EQ(g_x, part * 0.25 + 1.0);
    EXPECT_EQ(g_u, 0.0);
  }
  const double outside[] = {-4.0};
  double g = 0.0;
  ASSERT_TRUE(model.go_along_homotopy(0.0));
  model.outputs(0.0, outside, u, {&g, 1});
  EXPECT_EQ(g, 3.0);
  description.variables = {{"v", "x", ""}};
  description.outputs = {{"y", "x", ""}};
  EXPECT_FALSE(EquationsModel(description).go_along_homotopy(0.0));
}

/// From wherever it is looked at, and at once where a parameter says another time.
TEST(EquationsModel, a_time_that_is_written_comes_at_it_to_the_bit) {
  EquationsDescription description;
  description.parameters = {{"at", 1e9, ""}};
  description.states = {{"x", 0.0, ""}};
  description.derivatives = {{"x", "0", ""}};
  description.outputs = {{"n", "n", ""}};
  description.discrete = {{"n", 0.0, ""}};
  EquationsDescription::When when;
  when.condition = "t >= at";
  when.sets = {{"n", "n + 1", ""}};
  description.whens.push_back(when);
  const double still[] = {0.0};
  for (const double at : {0.3, 0.7, 1.0 / 3.0, 12.5, 1e3 + 0.1})
    for (const double from : {0.0, 0.1, 0.1 + 0.1 + 0.05, at / 7.0, 0.999 * at}) {
      EquationsModel model(description);
      double x[] = {0.0};
      std::vector<Happening> what;
      model.begin(from, x, {});
      model.settle({from, {}, {still, {}}, 1e-9}, x, what);
      ASSERT_TRUE(model.set_parameter(0, at));
      EXPECT_EQ(model.next_time_event(), at) << from;
      ASSERT_TRUE(model.happen({at, {}, {still, {}}, 1e-9}, x, what));
      EXPECT_EQ(model.held()[0], 1.0);
      EXPECT_EQ(model.next_time_event(), std::numeric_limits<double>::infinity());
    }
}

}  // namespace
}  // namespace concord
