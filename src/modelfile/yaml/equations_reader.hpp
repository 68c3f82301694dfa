#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "modelfile/yaml/subsystem_parts.hpp"
#include "network/model.hpp"
#include "subsystem/equations/equations_description.hpp"

namespace concord {

class EquationsCode;

/// A subsystem whose parts have `equations:`. Throws InputError.
SubsystemEntry equations_entry(const std::string& name, const NodeReader& node,
                               const SubsystemParts& parts, const SubsystemSurroundings& around);

/// The rounds of a repetition in which equations are those of the first one, and only numbers are
/// others: these are not read anew.
class RepeatedEquations {
 public:
  /// The parts and constants of the first round, and what it has come to.
  RepeatedEquations(const NodeReader& node, const SubsystemParts& parts, const std::string& index,
                    const SubsystemEntry& first, const SubsystemSurroundings& around);

  /// With another value of the index. Nothing where this has to be read by itself.
  std::optional<SubsystemEntry> in_round(const std::string& name, double value);

 private:
  struct Varying {
    SharedList<EquationsDescription::Number> EquationsDescription::*section;
    std::size_t place;
    NodeReader value;
  };
  bool take(const std::vector<Field>& entries,
            SharedList<EquationsDescription::Number> EquationsDescription::*section);
  bool varies(const NodeReader& value) const;
  bool put_numbers(EquationsDescription& equations);

  std::string index_;
  Constants constants_;
  std::vector<Field> parameters_;  ///< empty: none varies
  std::vector<Varying> varying_;
  std::shared_ptr<const EquationsDescription> first_;  ///< null: all are to be read themselves
  SharedValue<SubsystemType> type_;                    ///< of the last round
  std::shared_ptr<EquationsCode> code_;
};

/// Of equations, whoever has written them.
SubsystemEntry equations_entry(std::shared_ptr<const EquationsDescription> description);

/// The same subsystem with other equations.
void describe_anew(SubsystemEntry& entry, std::shared_ptr<const EquationsDescription> description);

}  // namespace concord
