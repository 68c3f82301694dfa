#pragma once

#include <memory>
#include <string>
#include <vector>

#include "concord/ode_model.hpp"
#include "subsystem/table/table_signals.hpp"

namespace concord {

/// A table as a subsystem: outputs over time.
struct TableDescription {
  struct Output {
    std::string name, unit;
  };
  std::string place;  ///< begins messages: "model.yaml:3: subsystem 'road'"
  std::vector<Output> outputs;
  std::shared_ptr<const TableSignals> signals;  ///< one per output
};

/// y = g(t), with exact slopes and, but for steps, y''. Asked for a time at which the table says
/// nothing, it throws SimulationError.
std::unique_ptr<OdeModel> make_table_model(const TableDescription& table);

}  // namespace concord
