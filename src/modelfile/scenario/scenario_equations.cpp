#include "modelfile/scenario/scenario_equations.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <random>

#include "expression/expression_scan.hpp"
#include "network/planned_parameters.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

using Text = EquationsDescription::Text;
using When = EquationsDescription::When;

/// The combined generator of L'Ecuyer (1988, figure 3), whose two parts are as good as independent:
/// products are below 2^53, so that doubles hold them exactly.
struct Generator {
  long factor, modulus;
};
constexpr std::array<Generator, 2> generators = {{{40014, 2147483563}, {40692, 2147483399}}};

std::string next(const Generator& generator, const std::string& state) {
  return "mod(" + std::to_string(generator.factor) + "*" + state + ", " +
         std::to_string(generator.modulus) + ")";
}

/// From 1 to the modulus - 1, different ones for each signal that one seed is for.
std::array<double, 2> first_states(const ScenarioAction& action, std::size_t number) {
  std::vector<std::uint32_t> words = {static_cast<std::uint32_t>(action.seed),
                                      static_cast<std::uint32_t>(number)};
  for (const char c : action.target) words.push_back(static_cast<unsigned char>(c));
  std::seed_seq seeds(words.begin(), words.end());
  std::array<std::uint32_t, 2> drawn{};
  seeds.generate(drawn.begin(), drawn.end());
  std::array<double, 2> result{};
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = 1.0 + static_cast<double>(drawn[i] % (generators[i].modulus - 1));
  return result;
}

bool acts_on_base(const ScenarioAction& action) {
  return action.deed == Deed::set || action.deed == Deed::ramp;
}

bool has_ramps(const ScenarioTarget& target) {
  return std::ranges::any_of(
      target.actions, [](const ScenarioAction& action) { return action.deed == Deed::ramp; });
}

/// Writes the equations, action by action.
class Writer {
 public:
  Writer(const ScenarioTarget& target, const std::vector<ScenarioSignal>& signals)
      : target_(target), signals_(signals), ramps_(has_ramps(target)) {}

  EquationsDescription write() {
    result_.subsystem = target_.subsystem;
    result_.location = target_.actions.front().location;
    begin();
    for (const ScenarioAction& action : target_.actions) {
      ++number_;
      if (action.planned)
        await(action);
      else
        acts_on_base(action) ? change_base(action) : add_layer(action);
    }
    result_.outputs.push_back({scenario_output_name, layer_, result_.location});
    return std::move(result_);
  }

 private:
  std::string own(const char* what) const { return what + ("_" + std::to_string(number_)); }

  void discrete(const std::string& name, double start) {
    result_.discrete.push_back({name, start, result_.location});
  }

  /// What is there before anything happens.
  void begin() {
    for (const auto& [name, alias, unit] : signals_) {
      result_.inputs.push_back({alias, 0.0, result_.location});
      if (!unit.empty()) result_.units.push_back({alias, unit, result_.location});
    }
    if (target_.fed) {
      result_.inputs.push_back({scenario_input_name, target_.start, result_.location});
      layer_ = scenario_input_name;
    } else {
      layer_ = "value";
      discrete("value", *target_.start);
      discrete("latest", 0.0);
      if (ramps_) {
        discrete("rate", 0.0);
        discrete("since", 0.0);
        layer_ = "base";
        result_.variables.push_back({"base", "value + rate*(t - since)", result_.location});
      }
    }
    for (const char* name : {scenario_input_name, scenario_output_name}) {
      if (name == std::string(scenario_input_name) && !target_.fed) continue;
      if (!target_.unit.empty()) result_.units.push_back({name, target_.unit, result_.location});
      if (target_.nominal > 0.0)
        result_.nominal.push_back({name, target_.nominal, result_.location});
    }
  }

  /// With names of inputs in the place of those of the model.
  std::string aliased(const std::string& text) const {
    std::string result;
    std::size_t at = 0;
    for (const NameUse& use : names_used(text)) {
      const auto found = std::ranges::find(signals_, use.name, &ScenarioSignal::name);
      if (found == signals_.end()) continue;
      result += text.substr(at, use.position - at) + found->alias;
      at = use.position + use.length;
    }
    return "(" + result + text.substr(at) + ")";
  }

  std::string begins(const ScenarioAction& action) const {
    return action.at ? "t >= " + exact_number(*action.at) : aliased(action.when);
  }

  /// `running`: what is true as long as it lasts; `since`: where it began.
  std::string ends(const ScenarioAction& action, const std::string& running,
                   const std::string& since) const {
    const std::string end = !action.last ? aliased(action.until)
                            : action.at  ? "t >= " + exact_number(*action.at + *action.last)
                                         : "t >= " + since + " + " + exact_number(*action.last);
    return running + " && " + end;
  }

  /// The file is known by its name, wherever it lies.
  std::string said(const ScenarioAction& action, const char* behind = "") const {
    return std::filesystem::path(action.location.text()).filename().string() + ": " +
           in_words(action) + behind;
  }

  When& add_when(const ScenarioAction& action, std::string condition, std::string says,
                 bool initially) {
    When when;
    when.condition = std::move(condition);
    when.initially = initially;
    when.location = action.location;
    when.says = std::move(says);
    result_.whens.push_back(std::move(when));
    return result_.whens.own().back();
  }

  When& add_begin(const ScenarioAction& action) {
    const std::string first = action.once ? "!" + own("done") + " && " : "";
    When& begin =
        add_when(action, first + begins(action), said(action), action.at || action.initially);
    if (action.once) {
      discrete(own("done"), 0.0);
      set(begin, own("done"), "1");
    }
    return begin;
  }

  void set(When& when, std::string name, std::string text) const {
    when.sets.push_back({std::move(name), std::move(text), when.location});
  }

  /// Where a condition is true for less than the action lasts, that begins anew.
  std::string begin_of(const ScenarioAction& action) {
    const bool known = action.at && action.deed != Deed::noise;
    const std::string name = known ? exact_number(*action.at) : own("begin");
    if (!known) discrete(name, 0.0);
    return name;
  }

  /// What is set to `goal` at the time `at`, parameters that others give while the run goes on. The
  /// relation says from then on the opposite of what it said before, whichever that was: with
  /// `side` = 1 it becomes true, with -1 false.
  void await(const ScenarioAction& action) {
    const double never = 1e300;
    for (const auto& [name, value] : {std::pair(planned_time_name, never),
                                      {planned_side_name, 1.0},
                                      {planned_goal_name, *target_.start}})
      result_.parameters.push_back({name, value, result_.location});
    const std::string side = planned_side_name;
    const std::string come = side + "*t >= " + side + "*" + planned_time_name;
    for (const char* what : {"", "!"}) {
      When& when = add_when(action, what + ("(" + come + ")"), in_words(action), false);
      set(when, "latest", std::to_string(number_));
      set(when, "value", planned_goal_name);
      if (ramps_) set(when, "rate", "0");
    }
  }

  /// Of what nothing feeds: the latest one counts.
  void change_base(const ScenarioAction& action) {
    const std::string number = std::to_string(number_), running = "latest == " + number;
    const std::string base = layer_at_base(), goal = aliased(action.value);
    const std::string since = action.ends() ? begin_of(action) : "";
    When& begin = add_begin(action);
    set(begin, "latest", number);
    if (since == own("begin")) set(begin, since, "t");
    if (action.deed == Deed::ramp) {
      discrete(own("goal"), 0.0);
      set(begin, own("goal"), goal);
      set(begin, "value", base);
      set(begin, "rate", "(" + goal + " - " + base + ")/" + exact_number(*action.last));
      set(begin, "since", action.at ? since : "t");
      end_base(action, ends(action, running, since), own("goal"));
      return;
    }
    set(begin, "value", goal);
    if (ramps_) set(begin, "rate", "0");
    if (!action.ends()) return;
    discrete(own("before"), 0.0);
    set(begin, own("before"), base);
    end_base(action, ends(action, running, since), own("before"));
  }

  void end_base(const ScenarioAction& action, std::string condition, const std::string& value) {
    When& end = add_when(action, std::move(condition), said(action, " ends"), false);
    set(end, "value", value);
    set(end, "latest", "0");
    if (ramps_) set(end, "rate", "0");
  }

  std::string layer_at_base() const { return ramps_ ? "base" : "value"; }

  /// On top of what is there.
  void add_layer(const ScenarioAction& action) {
    const std::string active = own("active");
    discrete(active, 0.0);
    const std::string since = action.ends() || action.deed == Deed::noise ? begin_of(action) : "";
    const std::size_t place = result_.whens.size();
    When& begin = add_begin(action);
    set(begin, active, "1");
    if (since == own("begin")) set(begin, since, "t");
    const std::string changed = changed_layer(action, active, since, place);
    if (action.ends())
      set(add_when(action, ends(action, active, since), said(action, " ends"), false), active, "0");
    layer_ = own("layer");
    result_.variables.push_back({layer_, changed, action.value_location});
  }

  /// `place`: of what begins it.
  std::string changed_layer(const ScenarioAction& action, const std::string& active,
                            const std::string& since, std::size_t place) {
    const auto instead = [&](const std::string& value) {
      return active + " ? " + value + " : " + layer_;
    };
    switch (action.deed) {
      case Deed::offset:
        return layer_ + " + (" + active + " ? " + aliased(action.value) + " : 0)";
      case Deed::freeze:
        discrete(own("kept"), 0.0);
        set(result_.whens.own()[place], own("kept"), layer_);
        return instead(own("kept"));
      case Deed::drop:
        return instead(exact_number(target_.start.value_or(0.0)));
      case Deed::noise:
        draw(action, active, since, place);
        return layer_ + " + " + active + "*" + own("drawn");
      case Deed::override_value:
      case Deed::set:
      case Deed::ramp:
        break;
    }
    return instead(aliased(action.value));
  }

  /// Normally distributed numbers (Box and Muller 1958), one at the begin and at each tick.
  void draw(const ScenarioAction& action, const std::string& active, const std::string& since,
            std::size_t place) {
    const std::array<double, 2> first = first_states(action, number_);
    const std::array<std::string, 2> names = {own("first"), own("second")};
    const std::string count = own("count");
    for (std::size_t i = 0; i < names.size(); ++i) discrete(names[i], first[i]);
    discrete(own("drawn"), 0.0);
    discrete(count, 0.0);
    const std::string one = next(generators[0], names[0]), two = next(generators[1], names[1]);
    const std::string drawn = action.value + "*sqrt(-2*log(" + one + "/" +
                              std::to_string(generators[0].modulus) + "))*cos(2*pi*" + two + "/" +
                              std::to_string(generators[1].modulus) + ")";
    add_when(action,
             active + " && t >= " + since + " + " + count + "*" + exact_number(action.every),
             said(action, ", next value"), false);
    for (const std::size_t when : {place, result_.whens.size() - 1}) {
      set(result_.whens.own()[when], names[0], one);
      set(result_.whens.own()[when], names[1], two);
      set(result_.whens.own()[when], own("drawn"), drawn);
      set(result_.whens.own()[when], count, when == place ? "1" : count + " + 1");
    }
  }

  const ScenarioTarget& target_;
  const std::vector<ScenarioSignal>& signals_;
  const bool ramps_;
  EquationsDescription result_;
  std::string layer_;       ///< the name of what is there so far
  std::size_t number_ = 0;  ///< of the action
};

}  // namespace

bool keeps_held(const ScenarioTarget& target) {
  return std::ranges::none_of(target.actions, [](const ScenarioAction& action) {
    const bool follows = action.deed == Deed::override_value || action.deed == Deed::offset;
    return action.deed == Deed::ramp || (follows && !parse_number(action.value));
  });
}

EquationsDescription equations_of(const ScenarioTarget& target,
                                  const std::vector<ScenarioSignal>& signals) {
  return Writer(target, signals).write();
}

}  // namespace concord
