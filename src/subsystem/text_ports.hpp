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
};

/// Those of all subsystems of a type, beside their numbers.
struct TextInterface {
  std::vector<TextVariable> inputs, outputs;
};

/// Texts and bytes of one subsystem, by their positions in its TextInterface. They change at
/// communication points only, and stay over the macro-steps that follow, whatever trials these
/// take.
class TextPorts {
 public:
  virtual ~TextPorts() = default;

  /// All that is put out at the communication point. Throws SimulationError.
  virtual void put_out(std::span<std::string> texts) = 0;

  /// From the communication point on the inputs with a flag in `changed` are these. Throws
  /// SimulationError.
  virtual void take(std::span<const std::string> texts, std::span<const char> changed) = 0;
};

}  // namespace concord
