#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace concord {

enum class TextKind { text, bytes };

/// "String", "Binary": as in FMI 3.
constexpr const char* name_of(TextKind kind) {
  return kind == TextKind::text ? "String" : "Binary";
}

/// A text, or bytes, that a subsystem takes or puts out; of an array an element ("words[2]").
struct TextVariable {
  std::string name;
  TextKind kind = TextKind::text;
  std::string mime{};    ///< of bytes, what they are; empty: anything
  std::size_t most = 0;  ///< bytes; 0: any number
  bool clocked = false;  ///< it is put out, or taken, at ticks of a clock: each time is a message
};

/// Those of all subsystems of a type, beside their numbers.
struct TextInterface {
  std::vector<TextVariable> inputs, outputs;
};

/// What one of them has become: at most one text, of clocked ones all since the last time, one per
/// tick.
using Texts = std::vector<std::string>;

/// Texts and bytes of one subsystem, by their positions in its TextInterface. They change at
/// communication points only, and stay over the macro-steps that follow, whatever trials these
/// take.
class TextPorts {
 public:
  virtual ~TextPorts() = default;

  /// What is put out at the communication point: of each that is not clocked its text, of others
  /// messages, once. `texts` comes empty. Throws SimulationError.
  virtual void put_out(std::span<Texts> texts) = 0;

  /// What the inputs become at the communication point; empty: they stay. Throws SimulationError.
  virtual void take(std::span<const Texts> texts) = 0;
};

}  // namespace concord
