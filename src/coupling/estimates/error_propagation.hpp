#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coupling/coupling.hpp"
#include "coupling/estimates/carried_errors.hpp"
#include "coupling/estimates/disturbance.hpp"
#include "coupling/estimates/late_errors.hpp"
#include "coupling/problem/constraint_rows.hpp"
#include "coupling/problem/input_system.hpp"
#include "coupling/problem/linear_map.hpp"
#include "coupling/problem/unit_offsets.hpp"
#include "subsystem/grazes.hpp"
#include "subsystem/sparse_linearization.hpp"

namespace concord {

/// How errors of the inputs become errors of states and outputs, through the whole coupled system:
/// with the linearisation of every subsystem, delta(0) = 0 and e from HoldErrors,
///
///     delta x' = A delta x + B u + f_d delta d + r,   delta y = C delta x + D u + g_d delta d,
///     u = P delta y + e,
///
/// d being the discrete variables, which events set to what their instants and all else were wrong
/// by (delta d' = 0; TellsGrazes),
/// the linearisation being the mean of those at both ends of the interval. Each subsystem carries
/// its states' errors by itself (CarriedErrors); what couples them goes as in Alexander's L-stable
/// singly diagonally implicit method of order 2 (1977; gamma = 1 - 1/sqrt(2)): inputs are constant
/// over (1 - gamma) H and over gamma H, each time one sparse linear system for those of all
/// subsystems, (I - P K) u = P C delta x* + e, K = C G + D, G the response over gamma H: errors
/// that die out in the model die out here, whatever the interval H. Factors are kept while
/// linearisations and H stay. Outputs that answer late have what inputs were wrong by then
/// (LateErrors).
class ErrorPropagation {
 public:
  /// `consistent`: outputs at communication points belong to what feeds the inputs there, whatever
  /// was given before.
  /// `closely`: by the mean linearisation and with e where it is, as far as two stages can; else by
  /// the linearisation at the end and the mean of e, which errs on the large side.
  /// `carried`: the coupling carries errors of states itself (CarriesErrors).
  /// `rows`: what outputs that pass inputs on are wrong by inside counts without loops, too.
  ErrorPropagation(RankNetwork& subsystems, bool consistent, bool closely, bool carried, bool rows);

  /// When what a macro-step leaves in the states has come about: in micro-steps on the way, or, as
  /// a whole, at its end.
  enum class Left { on_the_way, at_end };

  /// What integrators have left in the macro-step that was accepted last: part of the interval.
  void add_integration_errors(Left left);

  /// Over an interval of size h that ended at `point`, which is one macro-step where errors are
  /// carried by `coupling`. False: a subsystem cannot be linearised, or the system not solved.
  /// Collective.
  bool advance(const CommunicationPoint& point, double h, Disturbance& disturbance,
               CarriesErrors* coupling);

  /// What a margin within the interval that ended last may be wrong by, of own subsystem k: by
  /// errors of its states and inputs at the interval's ends.
  double error_of(std::size_t k, const Graze& graze) const;

  /// Before something happens at the point where the last interval ended: those that find their own
  /// events are told what is wrong there, and tell what the instant is wrong by (TellsGrazes).
  /// Collective.
  void begin_instant(const CommunicationPoint& point);

  /// It has happened, dt later than it should have: whom it reached went on with f- for so long, in
  /// place of f+ (Aizerman and Gantmakher 1958),
  ///
  ///     delta x+ = R_x (delta x- + f- dt) + R_u (delta u + u' dt) + R_d delta d- + R_t dt - f+ dt,
  ///
  /// R the derivatives of what was set (Jump); delta d+ the same, without f+. Inputs' errors are
  /// those of before the instant in all its passes.
  void end_instant(const CommunicationPoint& point);

  /// An event: what follows is of another regime.
  void restart() {
    for (Part& part : parts_) part.continues = false;
  }

  /// Whether every linearisation, of all ranks, was at the end of the last interval what it was
  /// before: how errors spread does not change from one interval to the next.
  bool steady() const { return steady_; }

  /// delta y of this rank's outputs, signed, in their units.
  std::span<const Sample> outputs() const { return outputs_; }

  /// By how much more those of algebraic loops and constraints are wrong between communication
  /// points, where these are not solved: the largest |D e|, e = (I - P D)^-1 (u - P y), of who is
  /// fast beside the interval |K e|.
  std::span<const double> between() const { return between_; }

  /// Of outputs whose error is far beyond what they have been, `astray`: those that what feeds
  /// them, and isn't astray itself, explains aren't any more, within an interval, or, of signals
  /// that have risen from next to nothing beside their `scale`, since `elapsed`. So rise signals at
  /// the far end of a chain, like t^k: no hold follows them, and nothing depends on them.
  /// Collective.
  void excuse_driven(const CommunicationPoint& point, double elapsed, std::span<const double> scale,
                     std::span<int> astray);

  /// What an output can be because of rounding and of inputs that cancel: what its terms would sum
  /// to, each weighed as little.
  void write_floors(const CommunicationPoint& point, std::span<double> floors);

  /// What errors have become, and the linearisations that are kept. Collective.
  void io(Archive& archive);
  int memory_version() const { return 7; }

  /// Of this rank, after a failure.
  const std::optional<std::string>& failure() const { return failure_; }

 private:
  enum State : int { same, resized, renewed, failed };

  /// What a linearisation makes of errors, shared by all that have it.
  struct Spread {
    Linearization mean;               ///< of those at both ends of the interval
    std::vector<std::size_t> places;  ///< of connected inputs, the number of all, held ones
    LinearMap a, b, c, d;             ///< b, d: columns of connected inputs
    LinearMap b_held, d_held;         ///< columns of held inputs
    double h = 0.0;                   ///< that what follows is for; 0: not made
    CarriedErrors::How how = CarriedErrors::How::exactly;
    CarriedErrors carried;
    LinearMap response;  ///< of states at the end to inputs
    LinearMap gain;      ///< K
  };

  /// The last few that were made: subsystems of one type come one behind the other.
  template <class Made>
  class LastFew {
   public:
    template <class Like>
    std::shared_ptr<Made> find(const Like& is_like) const {
      for (const auto& one : all_)
        if (one && is_like(*one)) return one;
      return nullptr;
    }
    void add(std::shared_ptr<Made> made) { all_[next_++ % all_.size()] = std::move(made); }

   private:
    std::array<std::shared_ptr<Made>, 8> all_;
    std::size_t next_ = 0;
  };

  using Column = Eigen::Map<Eigen::VectorXd>;

  /// One own subsystem.
  struct Part {
    std::shared_ptr<const Linearization> newest;   ///< at the interval's end
    std::shared_ptr<Spread> spread;                ///< of one that is known
    bool continues = false;                        ///< the interval begins where `newest` is
    LinearizesSparsely* sparse = nullptr;          ///< where that has few entries
    std::shared_ptr<const LinearPattern> pattern;  ///< of what linearisations then are entries
    std::unique_ptr<LateErrors> late;              ///< null: it does not answer late
    Eigen::VectorXd arriving;                      ///< of `late`, in the stage
    double* columns = nullptr;                     ///< where its columns are, one behind the other
    Eigen::Index states = 0, outputs = 0;
    IndexRange connected, held;  ///< positions among connected and held inputs
    TellsGrazes* teller = nullptr;
    Eigen::VectorXd discrete;  ///< of its discrete variables; none: no events, or not told
    std::vector<double> f_before, u_before;  ///< f-, delta u + u' dt of the instant under way
    std::int64_t restarts_before = 0;        ///< `restarts` there
    double instant_error = 0.0;              ///< dt of it, s
    bool known = false;
    bool steady = false;        ///< `newest` was what it was at the interval's begin, too
    std::int64_t restarts = 0;  ///< of the subsystem, when `newest` was found

    Column x() const { return of_states(0); }
    Column target() const { return of_states(1); }
    Column stage() const { return of_states(2); }
    Column driven() const { return of_states(3); }  ///< f by what is held and integrators have left
    Column x_begin() const { return of_states(4); }      ///< x where the interval began
    Column integrated() const { return of_states(5); }   ///< what integrators have left since then
    Column left_at_end() const { return of_states(6); }  ///< by the last macro-step, not in that
    Column f_discrete() const { return of_states(7); }   ///< `discrete` in f
    Column y() const { return {columns + 8 * states, outputs}; }
    Column g_discrete() const { return {columns + 8 * states + outputs, outputs}; }
    Column u() const { return of_inputs(0, connected); }
    Column u_begin() const { return of_inputs(connected.size(), connected); }
    Column u_held() const { return of_inputs(2 * connected.size(), held); }
    Column of_states(Eigen::Index which) const { return {columns + which * states, states}; }
    Column of_inputs(std::size_t place, const IndexRange& inputs) const {
      return {columns + 8 * states + 2 * outputs + place, static_cast<Eigen::Index>(inputs.size())};
    }
    std::size_t room() const {
      return static_cast<std::size_t>(8 * states + 2 * outputs) + 2 * connected.size() +
             held.size();
    }

    void io(Archive& archive);
    int memory_version() const { return 6; }
    void pass_mean(Archive& archive, Linearization& linearization);
  };

  void lay_columns();
  std::span<const std::size_t> connected_inputs(const Part& part) const;
  std::span<const std::size_t> held_inputs(const Part& part) const;
  std::shared_ptr<const Linearization> kept(const Linearization& here);
  static std::vector<char> sparse_parts(RankNetwork& subsystems);
  static LinearMap gain_over(const Part& part, double h);
  bool keeps(std::size_t k, const CommunicationPoint& point);
  State linearize(std::size_t k, const CommunicationPoint& point);
  bool take_pattern(Part& part) const;
  void take_linearization(std::size_t k, const Linearization& mean);
  template <class Matrix>
  void take_matrices(std::size_t k, const Matrix& a, const Matrix& c, const Matrix& by_all,
                     const Matrix& out_by_all);
  State linearize_all(const CommunicationPoint& point, double h);
  static bool is_fast(const Part& part, double h);
  bool relaxes_slowly(const Part& part, double h) const;
  void factorize(Part& part, double h) const;
  void put_gains(LinearMap Spread::*gain, InputSystem& system);
  void assemble_direct();
  void match_entries(LinearMap Spread::*gain, InputSystem& system);
  void pass_through(Disturbance& disturbance);
  void hold(const Disturbance& disturbance);
  void pass_states_through_curve(std::size_t k, const CommunicationPoint& point);
  bool find_outputs_beside(std::size_t k, const CommunicationPoint& point, double sign);
  void pass_through_curve(std::size_t k, const CommunicationPoint& point,
                          std::span<const double> end);
  void write_outputs(std::size_t k);
  void exchange();
  void find_gains();
  std::vector<LinearMap> gains_of_risen(double elapsed, std::span<const char> risen,
                                        std::span<const int> astray) const;
  bool excuse_explained(std::span<const Sample> fed, std::span<const char> risen,
                        std::span<const LinearMap> of_risen, std::span<int> astray) const;
  bool solve(InputSystem& system, std::span<const double> disturbance);
  bool find_inputs_at_end(const Disturbance& disturbance);
  bool look_between(const Disturbance& disturbance, double h);
  bool solve_between();
  bool pass_layers(const Disturbance& disturbance);
  bool end(const CommunicationPoint& point, const Disturbance& disturbance);
  void set_stages(const Disturbance& disturbance);
  bool stage(std::span<const double> disturbance);
  void add_moments(Part& part, double h, const Disturbance& disturbance) const;
  bool go_by_stages(double h, const Disturbance& disturbance);
  bool carry(const Disturbance& disturbance, CarriesErrors& coupling);
  std::vector<double> input_errors(std::size_t k) const;
  double take_errors(std::size_t k, std::span<const Sample> inputs, double h) const;
  std::vector<Sample> inputs_that_move(const CommunicationPoint& point);
  void put_slopes(std::size_t k, std::span<const double> f, std::span<const Sample> inputs,
                  std::span<Sample> outputs) const;
  bool find_slopes(std::size_t k, std::span<const Sample> inputs, std::vector<double>& slopes);
  void spread_instant_errors();
  void note_slopes(const CommunicationPoint& point);
  void jump(std::size_t k, const CommunicationPoint& point);
  void set(Part& part, std::span<const Jump> jumps) const;
  void set_pass(Part& part, std::span<const Jump> pass) const;
  void pass_discrete(std::size_t k, const CommunicationPoint& point);

  RankNetwork& subsystems_;
  bool closely_, carried_, small_;
  ConstraintRows constraints_;
  std::optional<InputSystem> over_interval_;  ///< K = Spread::gain; none where errors are carried
  bool consistent_, looks_between_;
  std::optional<InputSystem> direct_;  ///< K = D, of loops and direct constraints, too
  std::vector<Part> parts_;
  std::vector<double> columns_;  ///< of parts, one behind the other
  LastFew<const Linearization> linearizations_;
  LastFew<Spread> spreads_;
  std::vector<double> first_stage_, second_stage_, missed_, between_;
  std::vector<Sample> outputs_, exact_, fed_;
  UnitOffsets offsets_;
  std::vector<double> per_output_;            ///< what an output of one more is to inputs
  std::vector<double> nothing_;               ///< zeros, per connected input
  std::vector<CarriedError> carried_errors_;  ///< scratch
  double step_ = 0.0;                         ///< the last macro-step of the interval, s
  double h_ = 0.0;                            ///< for which factors are
  CarriedErrors::How how_ = CarriedErrors::How::by_stages;  ///< over that, at best
  bool single_step_ = false;                                ///< that is one macro-step
  bool any_teller_;                                         ///< of all ranks
  bool any_sparse_, any_late_;                              ///< the same
  bool steady_ = false;
  std::optional<std::string> failure_;
};

}  // namespace concord
