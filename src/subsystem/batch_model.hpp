#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "concord/ode_model.hpp"

namespace concord {

/// Models that are evaluated together, each with what is its own. Rows have a value per model and
/// lie one behind the other, variable by variable.
class ModelBatch {
 public:
  virtual ~ModelBatch() = default;

  /// Takes over what has changed in a model since. False where it fits no longer.
  virtual bool refresh(std::size_t model) = 0;

  /// dxdt = f(t,x,u), y = g(t,x,u) and dydt along a motion, with the bits that each model alone
  /// gives.
  virtual void derivatives(double t, std::span<const double> x, std::span<const double> u,
                           std::span<double> dxdt) = 0;
  virtual void outputs(double t, std::span<const double> x, std::span<const double> u,
                       std::span<double> y) = 0;
  virtual void output_slopes(double t, std::span<const double> x, std::span<const double> u,
                             const Motion& motion, std::span<double> dydt) = 0;
};

/// A model that can be evaluated together with others of its kind (methods 16).
class BatchModel {
 public:
  virtual ~BatchModel() = default;

  /// Whether both fit into one batch.
  virtual bool fits(const BatchModel& other) const = 0;

  /// All of them fit this one and outlive the batch.
  virtual std::unique_ptr<ModelBatch> batch(std::span<BatchModel* const> members) const = 0;

  /// Changes whenever `refresh` has something to do.
  virtual unsigned changes() const = 0;
};

}  // namespace concord
