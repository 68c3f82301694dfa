#pragma once

#include "coupling/coupling_decorator.hpp"
#include "coupling/explicit/explicit_coupling.hpp"
#include "coupling/problem/output_error_norm.hpp"

namespace concord {

/// Two macro-steps of size H against one of size 2H (Arnold 2012, section 3): explicit coupling
/// with an estimate of the error of every output at T_m + 2H,
///
///     EST = (y~ - y-) / (c - 1),   y~ after the large step, y- after the two small ones.
///
/// `richardson`: the large step extrapolates through T_m - 2iH, c = 2^{k+1}. With direct
/// feedthrough EST has an error in g_u c_y g_u. `richardson_modified`: it extrapolates through the
/// points of the small steps, c by `modified_constant`. Orders k from 0 to 2. What is kept are the
/// small steps.
class RichardsonCoupling : public CouplingDecorator {
 public:
  RichardsonCoupling(const Method& method, RankNetwork& subsystems);
  void start(const MacroStep& first, double stop, CommunicationPoint& point) override;

  /// `step` is the double step; the trial is its end. Needs rollback.
  CouplingReport solve(const MacroStep& step, const CommunicationPoint& point,
                       Trial& trial) override;
  void commit(const CommunicationPoint& point) override;
  void rejected() override;
  void restart(CommunicationPoint& point) override;
  const Middle* middle() const override { return &middle_; }
  std::span<const double> error_estimates() const override { return estimates_; }
  void io(Archive& archive) override {
    CouplingDecorator::io(archive);
    CONCORD_MEMBERS(archive, coarse_, rough_, first_, middle_, middle_committed_, norm_);
    CONCORD_MEMBERS_PER(archive, Per::output, estimates_);
  }

 private:
  CouplingStatus two_small_steps(const MacroStep& step, const CommunicationPoint& point,
                                 Trial& trial);
  CouplingStatus agreed(const CouplingReport& report) const;
  void estimate(const Trial& trial);
  int error_order() const;

  RankNetwork& subsystems_;
  int order_;
  bool modified_;
  double divisor_;
  ExplicitCoupling& fine_;   ///< what is decorated: the small steps
  ExplicitCoupling coarse_;  ///< its past are the ends of double steps
  Trial rough_, first_;
  Middle middle_;
  bool middle_committed_ = false;
  OutputErrorNorm norm_;
  std::vector<double> estimates_;
};

/// c of the modified estimate for order k (Arnold 2012): 2, 14/5, 32/9 without direct feedthrough;
/// 2, 3, 4 with it.
double modified_constant(int order, bool feedthrough);

}  // namespace concord
