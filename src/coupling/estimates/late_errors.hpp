#pragma once

#include <Eigen/Core>
#include <vector>

#include "concord/archive.hpp"

namespace concord {

/// Errors of outputs that answer late, y(t) = G u(t - T): what inputs were wrong by T before, of
/// which the mean over each interval is kept, so that the integral of y's error is that of u's;
/// what of that lies in layers is wrong within these alone, and not where an interval ends. Of an
/// interval H that is longer than T, a share s = 1 - T/H of that lies within itself, as if G s
/// passed it through directly. Who answers so does so only; of all others there is nothing.
class LateErrors {
 public:
  /// G by connected inputs and by held ones; T, s. What was kept stays.
  void take(double late, Eigen::MatrixXd gain, Eigen::MatrixXd by_held);
  bool any() const { return late_ > 0.0; }

  double share(double h) const { return h > late_ ? 1.0 - late_ / h : 0.0; }
  const Eigen::MatrixXd& gain() const { return gain_; }
  const Eigen::MatrixXd& by_held() const { return by_held_; }

  /// An interval of size h begins: what is known of y's error over it, and at its end.
  void begin(double h);
  /// Its mean over the last part of the interval, in which layers are over, and over what comes
  /// before, which is all but that share.
  Eigen::VectorXd over_last() const { return mean_ - layers_; }
  Eigen::VectorXd over_first(double last) const { return mean_ + last / (1.0 - last) * layers_; }
  const Eigen::VectorXd& layers() const { return layers_; }  ///< of the mean, what layers were
  const Eigen::VectorXd& at_end() const { return at_end_; }

  /// Of the interval's mean error of u, this share is `u`.
  void add(double share, const Eigen::Ref<const Eigen::VectorXd>& u) {
    if (any()) now_ += share * (gain_ * u);
  }
  /// Of that, what lies in layers.
  void add_layers(const Eigen::Ref<const Eigen::VectorXd>& u) {
    if (any()) layers_now_ += gain_ * u;
  }
  /// The interval of size h ends, over which held inputs were wrong by `held`.
  void end(double h, const Eigen::Ref<const Eigen::VectorXd>& held);

  void io(Archive& archive) { CONCORD_MEMBERS(archive, spans_, means_, in_layers_); }

 private:
  Eigen::Index outputs() const { return gain_.rows(); }

  double late_ = 0.0;
  Eigen::MatrixXd gain_, by_held_;
  Eigen::VectorXd mean_, layers_, at_end_, now_, layers_now_;
  std::vector<double> spans_;              ///< of the intervals before, the oldest first, s
  std::vector<double> means_, in_layers_;  ///< G u of each, output by output
};

}  // namespace concord
