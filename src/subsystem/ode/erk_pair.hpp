#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace concord {

/// The coefficients of an embedded explicit Runge-Kutta pair, from ARKODE's tables or a paper.
class ErkPair {
 public:
  enum class Table { dormand_prince, verner, prince_dormand };
  explicit ErkPair(Table table);

  std::size_t stages() const { return c_.size(); }
  /// Of f, for a micro-step that follows another one.
  std::size_t evaluations() const { return stages() - (ends_at_last_stage_ ? 1 : 0); }
  /// Of the method whose error is estimated: the error grows with size^(embedded_order + 1).
  int embedded_order() const { return embedded_order_; }
  double a(std::size_t stage, std::size_t before) const { return a_[stage * stages() + before]; }
  double b(std::size_t stage) const { return b_[stage]; }
  double c(std::size_t stage) const { return c_[stage]; }
  /// b minus the embedded method's.
  double error(std::size_t stage) const { return error_[stage]; }
  /// `error_ratio` of the pair.
  double error_ratio() const { return error_ratio_; }
  /// Whether the last stage is the new point, whose slopes are the next micro-step's first ones.
  bool ends_at_last_stage() const { return ends_at_last_stage_; }

 private:
  std::vector<double> a_, b_, c_, error_;
  int embedded_order_;
  double error_ratio_;
  bool ends_at_last_stage_ = false;
};

/// Dormand and Prince (1980), 5(4); for rtol below 1e-9 Verner (1978), 6(5).
const ErkPair& erk_pair(double rtol);

/// Prince and Dormand (1981), 8(7) with 13 stages: where the usual pair needs several micro-steps.
const ErkPair& long_erk_pair();

/// The stages of one micro-step, for `lanes` members at once, each with a size of its own: what
/// each lane gives does not depend on the others, bit by bit. Rows have a value per lane and lie
/// one behind the other, state by state.
class ErkStages {
 public:
  ErkStages(const ErkPair& pair, std::size_t states, std::size_t lanes)
      : pair_(pair),
        row_(states * lanes),
        lanes_(lanes),
        slopes_(pair.stages() * row_),
        point_(row_),
        error_(row_) {}

  const ErkPair& pair() const { return pair_; }
  bool is_for(const ErkPair& pair, std::size_t states, std::size_t lanes) const {
    return &pair_ == &pair && row_ == states * lanes && lanes_ == lanes;
  }

  /// f at a stage, to be filled.
  std::span<double> slopes(std::size_t stage) {
    return std::span(slopes_).subspan(stage * row_, row_);
  }

  std::span<const double> slopes(std::size_t stage) const {
    return std::span(slopes_).subspan(stage * row_, row_);
  }

  /// Where f is wanted for a stage behind the first one; valid until the next call.
  std::span<const double> point(std::size_t stage, std::span<const double> sizes,
                                std::span<const double> x);

  /// The new point; valid until the next call. All stages have slopes.
  std::span<const double> end(std::span<const double> sizes, std::span<const double> x);

  /// The estimate of its error.
  std::span<const double> error(std::span<const double> sizes);

  /// The micro-step was accepted, and all lanes go on where it ends: whether the first slopes are
  /// known.
  bool advance();

 private:
  template <class Coefficient>
  void combine(std::size_t stages, const Coefficient& coefficient, std::span<const double> sizes,
               std::span<double> result) const;

  const ErkPair& pair_;
  std::size_t row_, lanes_;
  std::vector<double> slopes_, point_, error_;
};

}  // namespace concord
