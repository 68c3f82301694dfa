#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace concord {

/// How the members of a terminal find those of another one (FMI 3.0.2, 2.4.9.2): all by their
/// names; those that have the same; by their order. Of a network's terminals (FMI-LS-BUS 1.0): what
/// one sends (Tx_...) is what the other receives (Rx_...).
enum class MatchingRule { plug, bus, sequence, transceiver, none };

/// "plug", ...
const char* name_of(MatchingRule rule);

/// Of a flow the terminal says which way it is positive.
enum class MemberKind { signal, inflow, outflow };

struct TerminalMember {
  std::string variable;
  std::string name;  ///< within the terminal; may be empty in a sequence
  MemberKind kind = MemberKind::signal;
};

/// A group of variables that is connected as one.
struct FmiTerminal {
  std::string name;
  MatchingRule rule = MatchingRule::none;
  std::string rule_name;  ///< as written
  std::string kind;       ///< terminalKind; may be empty
  std::vector<TerminalMember> members;
  std::vector<FmiTerminal> nested;
};

/// Those of an FMU that is unpacked in `folder`; none where it has no terminalsAndIcons.xml. `fmu`
/// names it in messages. Throws InputError.
std::vector<FmiTerminal> read_terminals(const std::filesystem::path& folder,
                                        const std::string& fmu);

}  // namespace concord
