#include "modelfile/terminal_connections.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "concord/errors.hpp"
#include "subsystem/fmu/setup.hpp"
#include "subsystem/messages/messages.hpp"
#include "support/options.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

/// A terminal of a subsystem.
struct Owned {
  const SubsystemEntry* owner = nullptr;
  const FmiTerminal* terminal = nullptr;

  std::string name_of(const TerminalMember& member) const {
    return owner->description.name + "." + member.variable;
  }
  /// Null where the terminal names a variable that there is not.
  const FmiVariable* variable(const TerminalMember& member) const {
    for (const FmiVariable& variable : owner->type->fmu->model->variables)
      if (variable.name == member.variable ||
          std::ranges::find(variable.aliases, member.variable) != variable.aliases.end())
        return &variable;
    return nullptr;
  }
};

/// A member of each of two terminals.
using Pair = std::pair<const TerminalMember*, const TerminalMember*>;

class TerminalConnections {
 public:
  explicit TerminalConnections(Model& model) : model_(model) {
    for (const SubsystemEntry& entry : model.subsystems) {
      if (const auto& messages = entry.type->messages)
        for (const MessagePort& port : messages->ports)
          if (port.node) nodes_.insert(entry.description.name + "." + port.name);
      if (!entry.type->fmu) continue;
      for (const FmiTerminal& terminal : entry.type->fmu->model->terminals)
        add(entry, terminal, entry.description.name + ".");
    }
  }

  bool any() const { return !terminals_.empty(); }

  void write_out() {
    const ConnectionList written = std::exchange(model_.connections, {});
    for (const ConnectionEntry& connection : written) {
      const auto from = terminals_.find(connection.from), to = terminals_.find(connection.to);
      if (from != terminals_.end() && to != terminals_.end())
        join(connection, from->second, to->second);
      else if (from == terminals_.end() && to == terminals_.end())
        model_.connections.push_back(connection);
      else if (nodes_.contains(from == terminals_.end() ? connection.from : connection.to))
        join_node(connection, from == terminals_.end() ? to->second : from->second,
                  from == terminals_.end() ? connection.from : connection.to);
      else
        refuse_half(connection, from != terminals_.end());
    }
  }

 private:
  /// Where a variable has the same name, that is meant.
  void add(const SubsystemEntry& entry, const FmiTerminal& terminal, const std::string& before) {
    const std::string name = before + terminal.name;
    const std::string own = name.substr(entry.description.name.size() + 1);
    const auto& variables = entry.type->fmu->model->variables;
    if (std::ranges::find(variables, own, &FmiVariable::name) == variables.end())
      terminals_.emplace(name, Owned{&entry, &terminal});
    for (const FmiTerminal& nested : terminal.nested) add(entry, nested, name + ".");
  }

  static std::string at(const ConnectionEntry& connection) {
    return (connection.location.empty() ? "" : connection.location + ": ") + connection.from +
           " -> " + connection.to + ": ";
  }

  [[noreturn]] static void refuse_half(const ConnectionEntry& connection, bool from) {
    throw InputError(at(connection) + in_quotes(from ? connection.from : connection.to) +
                     " is a terminal, and " + in_quotes(from ? connection.to : connection.from) +
                     " is none; connect terminals with each other, or name variables");
  }

  /// With a node of a CAN bus, whose names are those of its members.
  void join_node(const ConnectionEntry& connection, const Owned& own, const std::string& node) {
    if (own.terminal->rule != MatchingRule::transceiver)
      throw InputError(at(connection) + in_quotes(node) + " is a node of a bus, and the terminal " +
                       in_quotes(own.terminal->name) + " has the matchingRule " +
                       in_quotes(own.terminal->rule_name) +
                       "; connect one with org.fmi-ls-bus.transceiver");
    std::vector<std::string> joined_members;
    for (const TerminalMember& member : own.terminal->members) {
      const bool sends = member.name.starts_with("Tx_");
      if (!sends && !member.name.starts_with("Rx_")) continue;
      variable(connection, own, member);
      const std::string other = node + "." + counterpart(member, own);
      ConnectionEntry entry = connection;
      entry.from = sends ? own.name_of(member) : other;
      entry.to = sends ? other : own.name_of(member);
      joined_members.push_back(entry.from + " -> " + entry.to);
      model_.connections.push_back(entry);
    }
    model_.notes.push_back((connection.location.empty() ? "" : connection.location + ": ") +
                           connection.from + " -> " + connection.to + " connects " +
                           joined(joined_members));
  }

  void join(const ConnectionEntry& connection, const Owned& from, const Owned& to) {
    std::vector<std::string> joined_members, left;
    join(connection, from, to, joined_members, left);
    const std::string text = connection.from + " -> " + connection.to;
    if (joined_members.empty())
      throw InputError(at(connection) + "connects nothing: " +
                       (left.empty() ? "the terminals have no members in common"
                                     : "without " + joined(left, "; ")));
    model_.notes.push_back(
        (connection.location.empty() ? text : connection.location + ": " + text) + " connects " +
        joined(joined_members) + (left.empty() ? "" : "; without " + joined(left, "; ")));
  }

  void join(const ConnectionEntry& connection, const Owned& from, const Owned& to,
            std::vector<std::string>& joined_members, std::vector<std::string>& left) {
    for (const auto& [a, b] : pairs(connection, from, to))
      connect(connection, from, *a, to, *b, joined_members, left);
    for (const FmiTerminal& nested : from.terminal->nested) {
      const auto& others = to.terminal->nested;
      const auto other = std::ranges::find(others, nested.name, &FmiTerminal::name);
      if (other != others.end())
        join(connection, {from.owner, &nested}, {to.owner, &*other}, joined_members, left);
      else
        require_partial(connection, from, "terminal " + in_quotes(nested.name));
    }
    for (const FmiTerminal& nested : to.terminal->nested)
      if (std::ranges::find(from.terminal->nested, nested.name, &FmiTerminal::name) ==
          from.terminal->nested.end())
        require_partial(connection, to, "terminal " + in_quotes(nested.name));
  }

  /// What one has and the other has not: each goes by its own rule.
  static void require_partial(const ConnectionEntry& connection, const Owned& of,
                              const std::string& what) {
    if (of.terminal->rule == MatchingRule::bus || of.terminal->rule == MatchingRule::transceiver)
      return;
    throw InputError(at(connection) + "only the terminal " + in_quotes(of.terminal->name) + " of " +
                     in_quotes(of.owner->description.name) + " has the " + what +
                     ", all of whose members must match (matchingRule " + of.terminal->rule_name +
                     ")");
  }

  static std::vector<Pair> pairs(const ConnectionEntry& connection, const Owned& from,
                                 const Owned& to) {
    for (const Owned* one : {&from, &to})
      if (one->terminal->rule == MatchingRule::none)
        throw InputError(at(connection) + "the terminal " + in_quotes(one->terminal->name) +
                         " of " + in_quotes(one->owner->description.name) +
                         " has the matchingRule " + in_quotes(one->terminal->rule_name) +
                         "; terminals with plug, bus, sequence and org.fmi-ls-bus.transceiver can "
                         "be connected, of others the variables");
    const bool sends = from.terminal->rule == MatchingRule::transceiver;
    if (sends != (to.terminal->rule == MatchingRule::transceiver))
      throw InputError(at(connection) + "a transceiver sends to what another one receives by, a " +
                       name_of(sends ? to.terminal->rule : from.terminal->rule) +
                       " goes by names or order; connect transceivers with each other");
    const bool in_order = from.terminal->rule == MatchingRule::sequence;
    if (in_order != (to.terminal->rule == MatchingRule::sequence))
      throw InputError(at(connection) + "a sequence goes by order, a " +
                       name_of(in_order ? to.terminal->rule : from.terminal->rule) +
                       " by names; connect the variables");
    return in_order ? by_order(connection, from, to) : by_name(connection, from, to);
  }

  static std::vector<Pair> by_order(const ConnectionEntry& connection, const Owned& from,
                                    const Owned& to) {
    const auto &a = from.terminal->members, &b = to.terminal->members;
    if (a.size() != b.size())
      throw InputError(at(connection) + "the sequences have " + std::to_string(a.size()) + " and " +
                       std::to_string(b.size()) + " members; both must have the same number");
    std::vector<Pair> result;
    for (std::size_t i = 0; i < a.size(); ++i) result.emplace_back(&a[i], &b[i]);
    return result;
  }

  /// The name of what a member meets.
  static std::string counterpart(const TerminalMember& member, const Owned& of) {
    if (of.terminal->rule != MatchingRule::transceiver) return member.name;
    if (member.name.starts_with("Tx_")) return "Rx_" + member.name.substr(3);
    return member.name.starts_with("Rx_") ? "Tx_" + member.name.substr(3) : member.name;
  }

  static std::vector<Pair> by_name(const ConnectionEntry& connection, const Owned& from,
                                   const Owned& to) {
    const auto &a = from.terminal->members, &b = to.terminal->members;
    std::vector<Pair> result;
    for (const TerminalMember& member : a) {
      const auto other = std::ranges::find(b, counterpart(member, from), &TerminalMember::name);
      if (other != b.end())
        result.emplace_back(&member, &*other);
      else
        require_partial(connection, from, "member " + in_quotes(member.name));
    }
    for (const TerminalMember& member : b)
      if (std::ranges::find(a, counterpart(member, to), &TerminalMember::name) == a.end())
        require_partial(connection, to, "member " + in_quotes(member.name));
    return result;
  }

  static const FmiVariable& variable(const ConnectionEntry& connection, const Owned& of,
                                     const TerminalMember& member) {
    if (const FmiVariable* found = of.variable(member)) return *found;
    throw InputError(at(connection) + "the terminal " + in_quotes(of.terminal->name) + " of " +
                     in_quotes(of.owner->description.name) + " names the variable " +
                     in_quotes(member.variable) + ", which the FMU does not have");
  }

  /// Output with input, whichever way; a flow changes its sign where both say the same of it.
  void connect(const ConnectionEntry& connection, const Owned& from, const TerminalMember& a,
               const Owned& to, const TerminalMember& b, std::vector<std::string>& joined_members,
               std::vector<std::string>& left) {
    const FmiVariable& one = variable(connection, from, a);
    const FmiVariable& other = variable(connection, to, b);
    const auto leads = [](const FmiVariable& source, const FmiVariable& sink) {
      return (source.causality == FmiCausality::output || puts_out_ticks(source)) &&
             sink.causality == FmiCausality::input && !puts_out_ticks(sink);
    };
    const bool forward = leads(one, other), back = leads(other, one);
    const std::string names = from.name_of(a) + ", " + to.name_of(b);
    if (!forward && !back) {
      leave(connection, from, to, one, other, names, left);
      return;
    }
    if ((a.kind == MemberKind::signal) != (b.kind == MemberKind::signal))
      throw InputError(at(connection) + "of " + names +
                       " one is a signal and the other a flow (variableKind)");
    ConnectionEntry entry = connection;
    entry.from = forward ? from.name_of(a) : to.name_of(b);
    entry.to = forward ? to.name_of(b) : from.name_of(a);
    const bool turns = a.kind != MemberKind::signal && a.kind == b.kind;
    if (turns) entry.factor = -entry.factor;
    joined_members.push_back(entry.from + " -> " + entry.to + (turns ? " times -1" : ""));
    model_.connections.push_back(entry);
  }

  static bool is_signal(const FmiVariable& variable) {
    return variable.causality == FmiCausality::input || variable.causality == FmiCausality::output;
  }

  /// Parameters are their users' to give; two inputs, or outputs, leave a bus incomplete.
  static void leave(const ConnectionEntry& connection, const Owned& from, const Owned& to,
                    const FmiVariable& one, const FmiVariable& other, const std::string& names,
                    std::vector<std::string>& left) {
    const std::string both =
        one.causality == other.causality
            ? names + " (both of causality " + name_of(one.causality) + ")"
            : names + " (" + name_of(one.causality) + " and " + name_of(other.causality) + ")";
    const bool may =
        !is_signal(one) || !is_signal(other) ||
        (from.terminal->rule == MatchingRule::bus && to.terminal->rule == MatchingRule::bus);
    if (!may)
      throw InputError(at(connection) + both +
                       ": an output must meet an input there; flows that several have, and what "
                       "two put out, need a subsystem between");
    left.push_back(both);
  }

  Model& model_;
  std::unordered_map<std::string, Owned> terminals_;
  std::unordered_set<std::string> nodes_;  ///< of buses
};

}  // namespace

void connect_terminals(Model& model) {
  TerminalConnections connections(model);
  if (connections.any()) connections.write_out();
}

}  // namespace concord
