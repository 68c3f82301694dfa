#include "subsystem/fmu/description/terminals.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "files/xml_document.hpp"
#include "support/wording.hpp"

namespace concord {

namespace {

using Node = pugi::xml_node;

constexpr std::array<std::pair<std::string_view, MatchingRule>, 5> rules{
    {{"plug", MatchingRule::plug},
     {"bus", MatchingRule::bus},
     {"sequence", MatchingRule::sequence},
     {"org.fmi-ls-bus.transceiver", MatchingRule::transceiver},
     {"none", MatchingRule::none}}};

constexpr int deepest = 100;

std::string text_at(const Node& node, const char* attribute) {
  return node.attribute(attribute).as_string();
}

/// Other rules and kinds are those of other standards, and match nothing here.
TerminalMember read_member(const Node& node, const std::string& where) {
  TerminalMember member{text_at(node, "variableName"), text_at(node, "memberName")};
  const std::string kind = text_at(node, "variableKind");
  if (member.variable.empty()) throw InputError(where + " has a member without variableName");
  if (kind == "inflow") member.kind = MemberKind::inflow;
  if (kind == "outflow") member.kind = MemberKind::outflow;
  return member;
}

FmiTerminal read_terminal(const Node& node, const std::string& where, int depth) {
  FmiTerminal terminal;
  terminal.name = text_at(node, "name");
  if (terminal.name.empty()) throw InputError(where + " has a terminal without a name");
  if (depth > deepest)
    throw InputError(where + " has terminals within each other, more than a hundred deep");
  terminal.rule_name = text_at(node, "matchingRule");
  for (const auto& [name, rule] : rules)
    if (terminal.rule_name == name) terminal.rule = rule;
  terminal.kind = text_at(node, "terminalKind");
  const std::string place = where + ": the terminal " + in_quotes(terminal.name);
  for (const Node member : node.children("TerminalMemberVariable"))
    terminal.members.push_back(read_member(member, place));
  for (const Node nested : node.children("Terminal"))
    terminal.nested.push_back(read_terminal(nested, where, depth + 1));
  return terminal;
}

}  // namespace

const char* name_of(MatchingRule rule) {
  for (const auto& [name, candidate] : rules)
    if (candidate == rule) return name.data();
  return "none";
}

/// Where tools write FMI 2 they use the folder of the icon.
std::vector<FmiTerminal> read_terminals(const std::filesystem::path& folder,
                                        const std::string& fmu) {
  std::vector<FmiTerminal> result;
  for (const char* place : {"terminalsAndIcons", "icon"}) {
    const std::filesystem::path path = folder / place / "terminalsAndIcons.xml";
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) continue;
    const std::string where = fmu + ": " + place + "/terminalsAndIcons.xml";
    pugi::xml_document document;
    load_xml(document, path, where);
    const Node terminals = document.document_element().child("Terminals");
    for (const Node node : terminals.children("Terminal"))
      result.push_back(read_terminal(node, where, 1));
    break;
  }
  return result;
}

}  // namespace concord
