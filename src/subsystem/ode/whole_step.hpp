#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "concord/polynomial.hpp"
#include "concord/subsystem.hpp"
#include "subsystem/advance_batches.hpp"
#include "subsystem/batch_model.hpp"
#include "subsystem/ode/erk_pair.hpp"

namespace concord {

class CheckedModel;

/// The macro-step as one explicit micro-step of many models at once (methods 16), ahead of their
/// integrators, which take from it what they would have found out themselves, bit by bit, whoever
/// else is in the batch. Judging its error, and all that follows where one micro-step is not
/// enough, stays theirs.
class WholeSteps final : public AdvanceBatch {
 public:
  struct Member {
    CheckedModel* model;           ///< with states
    BatchModel* in_batch;          ///< the same
    const std::vector<double>* x;  ///< where it stands
    std::size_t first_input;       ///< of its inputs among all
  };

  /// At least one member; all models fit each other and outlive it.
  WholeSteps(const ErkPair& pair, std::vector<Member> members);

  /// Takes the macro-step for all, unless few have had a use for the last ones.
  void begin(const MacroStep& step, std::span<const Polynomial> inputs) override;

  /// Members go elsewhere.
  void end() override { taken_ = false; }

  Way way() const override;
  std::span<const double> inputs_at(double tau) override;
  bool refresh() override;
  std::int64_t version() const override { return version_; }
  bool keeps_derivatives() const override;
  bool derivatives(double t, std::span<const double> x, std::span<const double> u,
                   std::span<double> dxdt) override;
  bool outputs(double t, std::span<const double> x, std::span<const double> u,
               std::span<double> y) override;
  void count_evaluations(std::int64_t count) override;

 private:
  friend class WholeStep;

  /// What is left of a micro-step, rows for each state: where it began and ended, f there, its
  /// error, and where its last stage was.
  enum : std::size_t { begin_, end_, first_slopes_, last_slopes_, error_, last_, n_rows };

  bool worth_it();
  void gather(std::span<const Polynomial> all_inputs);
  std::span<const double> input_slopes_at(double tau);
  bool take();
  bool evaluate(ErkStages& stages, std::size_t stage, std::span<const double> sizes,
                std::span<double> before_last);
  void note_last_stages(std::span<const double> before_last);
  void find_outputs();
  std::size_t row() const;
  std::span<double> rows(std::size_t which) {
    return std::span(rows_).subspan(which * row(), row());
  }
  std::span<const double> rows(std::size_t which) const {
    return std::span(rows_).subspan(which * row(), row());
  }

  const ErkPair& pair_;
  std::vector<Member> members_;
  std::unique_ptr<ModelBatch> models_;
  std::vector<unsigned> changes_;  ///< of the models that have been taken over
  std::vector<char> fits_;
  std::int64_t version_ = 0;
  MacroStep step_;
  std::vector<double> rows_;          ///< once a micro-step has been taken
  std::vector<double> coefficients_;  ///< of inputs' polynomials, as far as these have any
  std::vector<double> y_, dy_;        ///< at the end, once they have been asked for
  bool taken_ = false, knows_outputs_ = false;
  std::vector<char> ways_;   ///< whether members have gone so
  std::vector<char> twice_;  ///< whether the last two stages are the same point
  std::size_t used_;         ///< by so many members
  int rest_ = 0;             ///< macro-steps to come for which nothing is taken
};

/// Of one member.
class WholeStep {
 public:
  WholeStep() = default;
  WholeStep(WholeSteps& steps, std::size_t lane) : steps_(&steps), lane_(lane) {}

  /// Whether a micro-step of `pair` over `size` from x has been taken, and every slope is finite.
  bool is(const ErkPair& pair, double size, std::span<const double> x) const;

  void end(std::span<double> x) const { gather(WholeSteps::end_, x); }
  void error(std::span<double> values) const { gather(WholeSteps::error_, values); }
  void last_point(std::span<double> x) const { gather(WholeSteps::last_, x); }
  void first_slopes(std::span<double> dxdt) const { gather(WholeSteps::first_slopes_, dxdt); }
  void last_slopes(std::span<double> dxdt) const { gather(WholeSteps::last_slopes_, dxdt); }
  std::size_t stages() const { return steps_->pair_.stages(); }
  /// Whether the last two stages are the same point, at which a model is asked only once.
  bool ends_twice_the_same() const { return steps_->twice_[lane_] != 0; }
  void note_use() const { ++steps_->used_; }

  /// The member begins the macro-step anew; it has come from one point to the other.
  void forget_way() const {
    if (steps_ != nullptr) steps_->ways_[lane_] = 0;
  }
  void note_way(std::span<const double> begin, std::span<const double> end) const;

  /// Outputs at the end of the way, where all that they depend on is known and finite, with slopes
  /// of f there that have been asked for.
  bool outputs(Wanted wanted, std::span<Sample> outputs) const;

 private:
  void gather(std::size_t rows, std::span<double> own) const;
  bool are_here(std::span<const double> values, std::size_t rows) const;

  WholeSteps* steps_ = nullptr;
  std::size_t lane_ = 0;
};

}  // namespace concord
