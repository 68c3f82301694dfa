#pragma once

#include <array>
#include <span>
#include <vector>

#include "network/own_batches.hpp"
#include "network/passed_way.hpp"

namespace concord {

/// Lobatto's four points of a macro-step, as shares of it, and the weights of the mean over it,
/// exact up to degree 5 (Hairer, Norsett and Wanner, Solving ODEs I, II.7).
struct LobattoPoints {
  static constexpr std::size_t count = 4;
  static constexpr std::array<double, count> share = {0.0, 0.27639320225002103, 0.72360679774997897,
                                                      1.0};
  static constexpr std::array<double, count> weight = {1.0 / 12.0, 5.0 / 12.0, 5.0 / 12.0,
                                                       1.0 / 12.0};
};

/// Outputs at Lobatto's points of the macro-step that PassedWay has noted, with the inputs that
/// were really given.
///
/// States inside come from values and slopes at both ends and one slope within: the cubic between
/// them, and a multiple of s^2 (1 - s)^2, the shape of what a cubic misses, that has the slope
/// there. Now and then two slopes and a sweep of collocation, x_i = x_0 + h sum_j A_ij f(t_j, x~_j,
/// u_j), tell how far that holds, by what is left at the end. Where it doesn't, as of stiff states,
/// the subsystem tells nothing, but in macro-steps of which nothing else is known: there it follows
/// its way again (Subsystem::retrace), as it always does where nothing is integrated.
class InnerPoints {
 public:
  static constexpr std::size_t count = LobattoPoints::count;
  using Rows = std::array<std::vector<Sample>, count>;  ///< one for each point

  /// `settings`: of all subsystems of the model.
  InnerPoints(OwnSubsystems& own, OwnBatches& batches, const RankLayout& layout,
              const PassedWay& way, const SettingsList& settings);

  /// Whether what was before tells of a macro-step: not of one from a start or event, or through a
  /// layer.
  enum class Past { known, unknown };

  /// Who chooses how large macro-steps are: a control makes them smaller where something changes.
  enum class Sizes { given, controlled };

  /// Before anything happens at its end: values of this rank's inputs, as they were given, and
  /// outputs; not a number where a subsystem cannot tell. `doubts`: what outputs inside may be
  /// wrong by. All have an entry for each of the rank's inputs or outputs.
  void find(const PassedStep& passed, Past past, Sizes chosen, Rows& inputs, Rows& outputs,
            std::vector<Sample>& doubts);

  /// The macro-step that was looked at last is accepted.
  void commit();

  /// Something has happened: what held before need not hold any more.
  void forget();

  void io(Archive& archive);
  int memory_version() const { return 2; }

  /// Evaluations of f for own subsystem k beside those that it counts itself.
  std::int64_t evaluations(std::size_t k) const { return evaluations_[k]; }

 private:
  using Parts = std::array<std::span<Sample>, count>;  ///< a subsystem's of each row

  /// What the last check has found of a subsystem.
  struct Check {
    double left = 0.0;       ///< share of what slopes within tell that may be wrong, as h
    int rest = 0;            ///< macro-steps until the next one
    bool by_slopes = false;  ///< slopes within tell
    double h = 0.0;          ///< of the macro-step

    void io(Archive& archive) { CONCORD_MEMBERS(archive, left, rest, by_slopes, h); }
  };

  /// Who is looked at together, a lane each: one, or a batch whose members have made the macro-step
  /// as one micro-step.
  struct Group {
    std::span<const std::size_t> members;
    AdvanceBatch* batch;  ///< null: the one member is asked itself
  };

  /// Of a lane.
  struct Lane {
    bool takes_part = true;
    bool due = false, long_ago = false;  ///< its check; not because of another size
    bool told = false;                   ///< whether slopes did before
    bool tells = false;                  ///< whether they do so far
  };

  /// What has become of a subsystem in the macro-step that is looked at.
  enum class Seen : char { not_yet, nothing, to_follow, found };

  static Parts parts_of(Rows& rows, IndexRange range);
  static double time_of(const MacroStep& step, std::size_t i);
  void take_inputs(std::size_t k, const MacroStep& step, const Parts& inputs) const;
  void look(const Group& group, const PassedStep& passed, Rows& inputs, Rows& outputs,
            std::span<Sample> doubts);
  bool take_way(const Group& group, const MacroStep& step, Rows& inputs);
  void take_ends(std::size_t k, const MacroStep& step, Rows& inputs);
  void begin_check(Lane& lane, std::size_t k, double h);
  void by_slopes(const Group& group, const PassedStep& passed, Rows& inputs, Rows& outputs,
                 std::span<Sample> doubts);
  template <class Concerned>
  void slope(const Group& group, const MacroStep& step, std::size_t i, Rows& inputs,
             const Concerned& concerned);
  template <class Concerned>
  void read(const Group& group, const MacroStep& step, std::size_t i, Rows& inputs,
            const Concerned& concerned);
  template <class Concerned>
  void drop_unknown(bool good, std::span<const double> rows, const Concerned& concerned);
  void put_cubic(double h);
  bool is_small(double change, std::size_t k, std::size_t place, double h) const;
  double bent(std::size_t place, double h) const;
  bool bend(std::size_t k, std::size_t lane, double h);
  bool collocate(std::size_t k, std::size_t lane, double h);
  void read_all(const Group& group, const PassedStep& passed, Rows& inputs, Rows& outputs);
  void copy_ends(std::size_t k, const PassedStep& passed, const Parts& outputs) const;
  bool go_again(std::size_t k, const PassedStep& passed, const Parts& outputs);

  OwnSubsystems& own_;
  OwnBatches& batches_;
  const RankLayout& layout_;
  const PassedWay& way_;
  std::vector<double> noise_;         ///< of each own subsystem's states, beside their size
  std::vector<char> offers_, jumps_;  ///< of each: slopes within; outputs that follow inputs
  std::vector<Check> checks_;         ///< of each own subsystem
  std::vector<Check> accepted_;       ///< the same as of the last macro-step
  std::vector<std::int64_t> evaluations_;
  std::vector<Seen> seen_;
  Sizes chosen_ = Sizes::given;  ///< in the macro-step that is looked at
  // Scratch: rows with a value per lane, variable by variable, of each point.
  std::vector<Lane> lanes_;
  std::array<std::vector<double>, count> x_, u_, f_;
  std::vector<double> outputs_, first_outputs_;  ///< at one point; on the cubic
  std::vector<Sample> read_;
  std::vector<double> passed_;     ///< states on the way again
  std::vector<Polynomial> moved_;  ///< inputs on the way again
};

}  // namespace concord
