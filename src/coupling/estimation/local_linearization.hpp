#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>

#include "coupling/estimation/state_space_matrix.hpp"
#include "subsystem/sparse_linearization.hpp"
#include "subsystem/subsystem.hpp"

namespace concord {

/// One subsystem about its communication point (t_N, x_N, u_N), with xi = x - x_N and
/// tau = t - t_N: xi' = A xi + B (u - u_N) + f + tau f_t, y = y_N + C xi + D (u - u_N) + tau g_t.
///
/// It is kept from point to point where the subsystem says that it still holds in every direction,
/// and counts as the same where no derivative has changed by more than rounding. Subsystems that
/// are linearised alike, bit by bit, share what it is made of.
class LocalLinearization {
 public:
  /// `sparse`: of many states of which each moves few, only entries are kept where the subsystem
  /// knows them.
  LocalLinearization(Subsystem& subsystem, bool sparse);

  /// Where the subsystem stands, with these inputs (all of the subsystem's). True: A, B, C or D has
  /// changed. `outcome` becomes `failed` where the subsystem has none there.
  bool renew(std::span<const Sample> inputs, Outcome& outcome);

  /// Whether it holds in every direction; else it is a tangent.
  bool holds_everywhere() const { return holds_everywhere_; }

  /// |C| |x| + |D| |u| and |C| (|A| |x| + |B| |u|) + |D| |u'|: what outputs and their slopes are
  /// sums of; with `curvatures` that of y'' too. Untouched where there is no linearisation yet.
  void output_terms(std::span<const Sample> inputs, bool curvatures,
                    std::span<Sample> outputs) const;

  /// Whether f is known at communication points, not only what A and B say.
  bool knows_derivatives() const { return knows_derivatives_; }

  void forget() { known_ = false; }

  /// Whether the other has the same matrices, bit by bit; and a number that is the same then.
  bool is_as(const LocalLinearization& other) const;
  std::size_t hash() const;

  void io(Archive& archive);
  int memory_version() const { return 2; }

  const StateSpaceMatrix& a() const { return made_->a; }
  const StateSpaceMatrix& b() const { return made_->b; }  ///< columns as in description().inputs
  const StateSpaceMatrix& c() const { return made_->c; }
  const StateSpaceMatrix& d() const { return made_->d; }
  const Eigen::VectorXd& x() const { return x_; }  ///< x_N
  const Eigen::VectorXd& u() const { return u_; }  ///< u_N
  const Eigen::VectorXd& f() const { return f_; }
  /// Row-major; empty where no output answers to inputs of late() s before.
  std::span<const double> g_late() const { return made_->at_point.g_late; }
  double late() const { return made_->at_point.late; }
  Eigen::Map<const Eigen::VectorXd> f_t() const;
  Eigen::Map<const Eigen::VectorXd> g_t() const;

 private:
  /// Without f and g.
  struct Made {
    Linearization at_point;
    std::shared_ptr<const LinearPattern> pattern;  ///< of entries; null: matrices are whole
    StateSpaceMatrix a, b, c, d;
  };
  void take(Linearization& now);
  void move_along_time(Linearization& now);
  void take_pattern();
  Outcome ask(std::span<const Sample> inputs, Linearization& result);
  bool same_as_known(const Linearization& now) const;
  bool linearize(std::span<const Sample> inputs, Outcome& outcome);
  void find_derivatives(std::span<const Sample> inputs, Outcome& outcome);

  Subsystem& subsystem_;
  LinearizesSparsely* sparse_ = nullptr;          ///< null: matrices are whole
  std::shared_ptr<const LinearPattern> pattern_;  ///< of entries; null: matrices are whole
  bool knows_derivatives_;
  std::shared_ptr<Made> made_;  ///< changed by who has it alone
  bool known_ = false;
  bool holds_everywhere_ = false;
  Eigen::VectorXd x_, u_, f_;
};

}  // namespace concord
