#include "subsystem/table/table_model.hpp"

#include <algorithm>
#include <cmath>

#include "concord/errors.hpp"
#include "support/wording.hpp"

namespace concord {
namespace {

class TableModel final : public OdeModel {
 public:
  explicit TableModel(TableDescription table) : table_(std::move(table)) {}

  OdeInterface interface() const override {
    OdeInterface result;
    for (const auto& output : table_.outputs) {
      result.outputs.push_back({output.name, output.unit});
    }
    result.feedthrough.emplace();
    result.constant_jacobians = true;
    result.output_curvatures = true;
    return result;
  }

  void derivatives(double, std::span<const double>, std::span<const double>,
                   std::span<double>) override {}

  void outputs(double t, std::span<const double>, std::span<const double>,
               std::span<double> y) override {
    for (std::size_t o = 0; o < y.size(); ++o) {
      y[o] = around(o, t).c[0];
    }
  }

  bool jacobians(double, std::span<const double>, std::span<const double>,
                 const Jacobians&) override {
    return true;
  }

  bool time_derivatives(double t, std::span<const double>, std::span<const double>,
                        const TimeDerivatives& result) override {
    for (std::size_t o = 0; o < result.g_t.size(); ++o) {
      result.g_t[o] = around(o, t).c[1];
    }
    return true;
  }

  bool output_slopes(double t, std::span<const double>, std::span<const double>, const Motion&,
                     std::span<double> dydt) override {
    for (std::size_t o = 0; o < dydt.size(); ++o) {
      dydt[o] = around(o, t).c[1];
    }
    return true;
  }

  bool output_curvatures(double t, std::span<const double>, std::span<const double>,
                         const InputMotion&, std::span<double> d2ydt2) override {
    for (std::size_t o = 0; o < d2ydt2.size(); ++o) {
      d2ydt2[o] = 2.0 * around(o, t).c[2];
    }
    return true;
  }

 private:
  Polynomial around(std::size_t output, double t) const {
    const Polynomial result = table_.signals->around(output, t);
    if (std::isnan(result.c[0])) {
      throw SimulationError(table_.place + " has no values at t = " + short_number(t) +
                            " s: its rows go from " + short_number(table_.signals->first()) +
                            " to " + short_number(table_.signals->last()) +
                            " s; give 'before' or 'after' (hold, linear, repeat)");
    }
    return result;
  }

  TableDescription table_;
};

}  // namespace

std::unique_ptr<OdeModel> make_table_model(const TableDescription& table) {
  return std::make_unique<TableModel>(table);
}

}  // namespace concord
