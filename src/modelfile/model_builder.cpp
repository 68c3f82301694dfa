#include "concord/model_builder.hpp"

#include <cmath>
#include <utility>

#include "modelfile/fmu/fmu_entry.hpp"
#include "modelfile/model_file.hpp"
#include "network/schedule/schedule.hpp"
#include "settings/settings.hpp"
#include "subsystem/native/watched_model.hpp"
#include "subsystem/native/watched_subsystem.hpp"
#include "subsystem/ode_subsystem.hpp"
#include "support/wording.hpp"

namespace concord {

/// What a builder describes, as the network knows it.
class BuiltModel {
 public:
  explicit BuiltModel(const ModelBuilder& builder)
      : builder_(builder), left_(builder.start_values_) {
    model_.name = model_.source = builder.name_;
    model_.start = builder.start_;
    model_.stop = builder.stop_;
    for (const auto& part : builder.parts_) {
      model_.subsystems.push_back(entry_of(part));
      model_.subsystems.back().location = builder.name_;
    }
    refuse_left_start_values();
    add_connections();
    for (const auto& group : builder.groups_) {
      model_.groups.emplace_back();
      for (const auto& name : group) {
        model_.groups.back().push_back({name, builder.name_});
      }
    }
    model_.groups_location = builder.name_;
    given_groups(model_);
    model_.events = builder.events_;
    complete(model_);
  }

  Model take() { return std::move(model_); }

 private:
  /// What the program makes itself is nowhere else.
  void refuse_isolation(const ModelBuilder::Part& part) const {
    if (read_isolation_options(part.name, {}).isolated) {
      throw InputError(builder_.name_ + ": subsystem '" + part.name +
                       "' is made by the program itself and cannot be isolated; give -subsystem_" +
                       part.name + "_isolated false, or load it from a library (native:)");
    }
  }

  SubsystemEntry entry_of(const ModelBuilder::Part& part) {
    if (!is_name(part.name)) {
      throw InputError(builder_.name_ + ": the subsystem's name " + in_quotes(part.name) +
                       " is not a name: use letters, digits and _, not starting with a digit");
    }
    if (part.fmu.empty()) {
      refuse_isolation(part);
    }
    return part.create ? of_model(part) : part.create_subsystem ? of_subsystem(part) : of_fmu(part);
  }

  SubsystemEntry of_model(const ModelBuilder::Part& part) {
    OdeInterface interface = part.create()->interface();
    take_starts(part.name, interface.inputs);
    take_starts(part.name, interface.states);
    SubsystemEntry entry;
    create_model(entry, describe_ode(part.name, "native", interface), part.create);
    return entry;
  }

  static void create_model(SubsystemEntry& entry, const SubsystemDescription& description,
                           const ModelBuilder::Create& create) {
    entry.description = description;
    entry.type.own().create = [description, create](const SubsystemEntry&,
                                                    const SubsystemSettings& settings) {
      return make_ode_subsystem(description,
                                watched(create(), "the C++ code", description.name, ""), settings);
    };
    entry.type.own().take_starts = [create](SubsystemEntry& other,
                                            const SubsystemDescription& starts) {
      create_model(other, starts, create);
    };
  }

  SubsystemEntry of_subsystem(const ModelBuilder::Part& part) {
    SubsystemEntry entry;
    entry.description = part.create_subsystem()->description();
    entry.description.name = part.name;
    entry.description.kind = "native";
    take_starts(part.name, entry.description.inputs);
    entry.type.own().create = [shown = entry.description, create = part.create_subsystem](
                                  const SubsystemEntry&, const SubsystemSettings& settings) {
      return watched(create(), "the C++ code", shown, settings);
    };
    return entry;
  }

  SubsystemEntry of_fmu(const ModelBuilder::Part& part) {
    FmuRequest request;
    request.subsystem = part.name;
    request.path = part.fmu;
    request.location = builder_.name_;
    const std::string prefix = part.name + ".";
    for (auto it = left_.begin(); it != left_.end();) {
      if (it->first.starts_with(prefix)) {
        request.values.push_back({it->first.substr(prefix.size()),
                                  {exact_number(it->second)},
                                  "",
                                  builder_.name_ + ": start value"});
        it = left_.erase(it);
      } else {
        ++it;
      }
    }
    return fmu_entry(std::move(request));
  }

  template <class Variable>
  void take_starts(const std::string& subsystem, SharedList<Variable>& variables) {
    for (std::size_t i = 0; i < variables.size(); ++i) {
      const std::string name = subsystem + "." + variables.all()[i].name;
      if (const auto given = builder_.start_values_.find(name);
          given != builder_.start_values_.end()) {
        variables[i].start = given->second;
        left_.erase(name);
      }
    }
  }

  void refuse_left_start_values() const {
    if (left_.empty()) {
      return;
    }
    std::vector<std::string> names;
    for (const auto& entry : model_.subsystems) {
      for (const auto& input : entry.description.inputs) {
        names.push_back(entry.description.name + "." + input.name);
      }
      for (const auto& state : entry.description.states) {
        names.push_back(entry.description.name + "." + state.name);
      }
    }
    throw InputError(builder_.name_ + ": start value of " + in_quotes(left_.begin()->first) +
                     ", which is neither an input nor a state that Concord starts; " +
                     known("names", left_.begin()->first, names));
  }

  void add_connections() {
    for (const auto& wire : builder_.wires_) {
      if (!(wire.delay >= 0.0) || !std::isfinite(wire.delay)) {
        throw InputError(builder_.name_ + ": the delay of " + wire.from + " -> " + wire.to +
                         " must be a number of seconds, not negative, but is " +
                         short_number(wire.delay));
      }
      ConnectionEntry entry{wire.from, wire.to, builder_.name_, wire.factor};
      entry.delay = wire.delay;
      model_.connections.push_back(entry);
    }
    for (const auto& [unknown, equation, feeds, start] : builder_.constraints_) {
      ConstraintEntry constraint;
      constraint.unknown = unknown;
      constraint.start = start;
      constraint.equation = equation;
      constraint.location = constraint.equation_location = builder_.name_;
      for (const auto& [input, factor] : feeds) {
        constraint.feeds.push_back({input, factor, builder_.name_});
      }
      model_.constraints.push_back(std::move(constraint));
    }
    for (const auto& [equation, free] : builder_.initial_) {
      InitialEntry entry;
      entry.equation = equation;
      if (!free.empty()) entry.free = free;
      entry.location = builder_.name_;
      model_.initial.push_back(std::move(entry));
    }
  }

  const ModelBuilder& builder_;
  std::map<std::string, double> left_;  ///< start values that nobody has taken
  Model model_;
};

ModelBuilder::ModelBuilder(std::string name, double start, double stop)
    : name_(std::move(name)), start_(start), stop_(stop) {}

ModelBuilder& ModelBuilder::add(std::string name, Create create) {
  parts_.push_back({std::move(name), std::move(create), {}, {}});
  return *this;
}

ModelBuilder& ModelBuilder::add_subsystem(std::string name, CreateSubsystem create) {
  parts_.push_back({std::move(name), {}, std::move(create), {}});
  return *this;
}

ModelBuilder& ModelBuilder::add_fmu(std::string name, std::string path) {
  parts_.push_back({std::move(name), {}, {}, std::move(path)});
  return *this;
}

ModelBuilder& ModelBuilder::start_value(std::string variable, double value) {
  start_values_.insert_or_assign(std::move(variable), value);
  return *this;
}

ModelBuilder& ModelBuilder::connect(std::string output, std::string input, double factor,
                                    double delay) {
  wires_.push_back({std::move(output), std::move(input), factor, delay});
  return *this;
}

ModelBuilder& ModelBuilder::constrain(std::string unknown, std::string equation,
                                      std::vector<std::pair<std::string, double>> feeds,
                                      double start) {
  constraints_.push_back({std::move(unknown), std::move(equation), std::move(feeds), start});
  return *this;
}

ModelBuilder& ModelBuilder::initial(std::string equation, std::vector<std::string> free) {
  initial_.push_back({std::move(equation), std::move(free)});
  return *this;
}

ModelBuilder& ModelBuilder::event(double time) {
  events_.push_back(time);
  return *this;
}

ModelBuilder& ModelBuilder::group(std::vector<std::string> subsystems) {
  groups_.push_back(std::move(subsystems));
  return *this;
}

ModelSource ModelBuilder::source() const {
  return [builder = *this](const Changes& values) {
    ModelBuilder changed = builder;
    const ModelChanges changes = read_changes(values);
    for (const ModelChange& change : changes) {
      const std::string name = change.owner + "." + change.name;
      const auto value = parse_number(change.text);
      if (!value) {
        throw InputError(change.location + ": " + in_quotes(name) + " needs a number, not " +
                         in_quotes(change.text));
      }
      changed.start_value(name, *value);
    }
    auto model = std::make_shared<Model>(BuiltModel(changed).take());
    model->changes = as_words(changes);
    return model;
  };
}

}  // namespace concord
