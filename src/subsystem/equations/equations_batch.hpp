#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "expression/expression_batch.hpp"
#include "subsystem/equations/equations_model.hpp"

namespace concord {

/// Equations with the same programs, evaluated together (methods 16), each with its own parameters,
/// discrete variables and relations: what each gives alone, with the same bits.
///
/// Arguments and results are rows of size(), one behind the other, variable by variable: state j of
/// member i is at j * size() + i.
class EquationsBatch : public ModelBatch {
 public:
  /// At least one member; all of them fit each other (EquationsModel::fits), and they outlive the
  /// batch.
  explicit EquationsBatch(std::vector<EquationsModel*> members);

  std::size_t size() const { return members_.size(); }

  /// After an event of that member, or where one of its parameters was set. False where it needs
  /// another batch now.
  bool refresh(std::size_t member) override;

  /// dxdt = f, y = g, as those of the members.
  void derivatives(double t, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override;
  void outputs(double t, std::span<const double> x, std::span<const double> u,
               std::span<double> y) override;
  void output_slopes(double t, std::span<const double> x, std::span<const double> u,
                     const Motion& motion, std::span<double> dydt) override;
  /// False, and nothing is filled, where the programs of second derivatives are not the same: then
  /// each member is to be asked.
  bool output_curvatures(double t, std::span<const double> x, std::span<const double> u,
                         const InputMotion& motion, std::span<double> d2ydt2);

  /// Where the partial derivatives of f and g may be other than zero; variables as in
  /// EquationPlaces: t, states, inputs, then what is held.
  std::span<const ExpressionList::Entry> f_entries() const { return f_.entries(); }
  std::span<const ExpressionList::Entry> g_entries() const { return g_.entries(); }

  /// Their values, a row per entry; valid until the next call.
  std::span<const double> f_partials(double t, std::span<const double> x,
                                     std::span<const double> u);
  std::span<const double> g_partials(double t, std::span<const double> x,
                                     std::span<const double> u);

 private:
  void move_to(std::span<double> points, double t, std::span<const double> x,
               std::span<const double> u) const;
  void put_held(std::span<double> points, std::size_t member) const;
  std::size_t point_size() const { return members_.front()->places().all() * size(); }
  bool derive_curvatures();
  bool set_curvatures(std::size_t member);

  std::vector<EquationsModel*> members_;
  ExpressionBatch f_, g_;
  std::optional<BatchEvaluation> curvatures_;  ///< once they have been asked for
  std::vector<double> points_, curvature_points_;
};

}  // namespace concord
