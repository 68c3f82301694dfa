#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "network/model.hpp"
#include "network/text_links.hpp"

namespace concord {

/// One row of the dispatch P: input = factor * output + offset (units converted). Global indices.
struct Link {
  std::size_t output = 0;
  double factor = 1.0;
  double offset = 0.0;
  bool whole = false;  ///< what arrives is rounded

  /// Of what is put out.
  Sample arriving(const Sample& put_out) const {
    if (whole) [[unlikely]]
      return {std::nearbyint(factor * put_out.value + offset), 0.0};
    return {factor * put_out.value + offset, factor * put_out.derivative,
            factor * put_out.curvature};
  }
};

/// A strongly connected component of the direct-feedthrough graph of the outputs.
struct FeedthroughComponent {
  std::vector<std::size_t> outputs;  ///< global indices
  bool loop = false;                 ///< an algebraic loop, not a single output
};

/// Half-open range of global indices.
struct IndexRange {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t size() const { return last - first; }
};

/// The resolved model: global numbering in model-file order, links, direct feedthrough, loops.
/// Known whole on every rank; built once. Its members are tables, per subsystem or per variable.
class Network {
 public:
  /// Throws InputError with its location for unknown names, an input fed twice or by nothing, and
  /// units that don't match.
  explicit Network(const Model& model);

  std::size_t n_subsystems() const { return input_offset_.size() - 1; }
  std::size_t n_inputs() const { return input_offset_.back(); }
  std::size_t n_outputs() const { return output_offset_.back(); }
  std::size_t n_states() const { return state_offset_.back(); }
  /// At most so many are one behind the other; those within FMUs are known by what comes out.
  std::size_t n_integrations() const { return n_states() + n_outputs(); }
  IndexRange inputs_of(std::size_t k) const { return {input_offset_[k], input_offset_[k + 1]}; }
  IndexRange outputs_of(std::size_t k) const { return {output_offset_[k], output_offset_[k + 1]}; }
  IndexRange states_of(std::size_t k) const { return {state_offset_[k], state_offset_[k + 1]}; }
  std::size_t subsystem_of_input(std::size_t input) const;
  std::size_t subsystem_of_output(std::size_t output) const;
  std::size_t subsystem_of_state(std::size_t state) const;

  /// Whether subsystem k stands for a constraint, and of which kind.
  std::optional<ConstraintKind> constraint(std::size_t k) const { return constraints_[k]; }

  bool has_constraints() const;

  /// Per global input; nothing where the input stays at its start value.
  const std::vector<std::optional<Link>>& links() const { return links_; }

  /// Whether the input is fed and held between events: it or what feeds it is no continuous signal.
  bool held(std::size_t input) const { return links_[input] && !coupled_links()[input]; }
  bool has_held() const { return has_held_; }

  /// What leads texts and bytes from subsystem to subsystem.
  std::span<const TextLink> text_links() const { return text_links_; }
  /// Whether any subsystem has some.
  bool has_texts() const { return has_texts_; }

  /// Whether some subsystem tells of events.
  bool has_events() const { return has_events_; }
  /// Whether some subsystem may jump and doesn't tell.
  bool has_black_boxes() const { return has_black_boxes_; }

  /// The links that holds, unknowns and slopes belong to: those of inputs that are not held.
  const std::vector<std::optional<Link>>& coupled_links() const {
    return has_held_ ? coupled_ : links_;
  }

  /// "right.f -> left.f" where an output or a constraint's unknown ("lambda.value") feeds the input
  /// of a subsystem of the model; else nothing.
  std::optional<std::string> connection(std::size_t input) const;

  /// "left.x"; units as written. The first call puts them together.
  const std::vector<std::string>& input_names() const;
  const std::vector<std::string>& output_names() const;
  const std::vector<std::string>& state_names() const;
  /// Of one output, without keeping those of others.
  std::string output_name(std::size_t output) const;

  /// Topological order: a component depends on earlier ones only (Arnold 2012, algebraic loops).
  const std::vector<FeedthroughComponent>& components() const { return components_; }
  bool has_feedthrough() const { return has_feedthrough_; }
  bool has_loops() const;

  /// "a.y -> b.u -> b.y -> a.u -> a.y": one cycle through the component, variable by variable; of
  /// a long one the beginning.
  std::string describe_loop(const FeedthroughComponent& loop) const;

  /// Direct feedthrough entries (global output, global input), connected inputs or not, in the
  /// order of outputs.
  const std::vector<Feedthrough>& feedthrough() const { return feedthrough_; }
  /// Those of one output.
  std::span<const Feedthrough> feedthrough_to(std::size_t output) const;

  /// SubsystemDescription::one_per_process.
  const std::string& one_per_process(std::size_t k) const { return parts_[k].one_per_process; }

 private:
  /// What names of variables are made of.
  struct Part {
    std::string before;  ///< "left."
    SharedList<InputVariable> inputs;
    SharedList<OutputVariable> outputs;
    SharedList<StateVariable> states;
    SharedText one_per_process;
  };

  void number(const Model& model);
  std::string input_name(std::size_t input) const;
  void connect(const Model& model);
  void require_fed_inputs(const Model& model) const;
  void find_components();
  void add_component(std::vector<std::size_t> outputs,
                     const std::vector<std::vector<std::size_t>>& successors);
  void add_parts(const std::vector<std::size_t>& outputs,
                 const std::vector<std::vector<std::size_t>>& successors);
  std::vector<std::vector<std::size_t>> output_successors(
      const std::vector<std::optional<Link>>& links) const;

  std::vector<std::size_t> input_offset_{0}, output_offset_{0}, state_offset_{0};
  std::vector<Part> parts_;                                                    ///< subsystems
  mutable std::vector<std::string> input_names_, output_names_, state_names_;  ///< once asked for
  std::vector<std::optional<ConstraintKind>> constraints_;
  std::vector<std::optional<Link>> links_;
  std::vector<std::optional<Link>> coupled_;  ///< where some are held
  std::vector<TextLink> text_links_;
  bool has_texts_ = false;
  bool has_held_ = false;
  bool has_events_ = false;
  bool has_black_boxes_ = false;
  std::vector<Feedthrough> feedthrough_;
  std::vector<FeedthroughComponent> components_;
  bool has_feedthrough_ = false;
};

/// Which rank owns which subsystems. Some ranks may own none.
class Partition {
 public:
  explicit Partition(std::vector<int> rank_of) : rank_of_(std::move(rank_of)) {}
  static Partition on_one_rank(const Network& network);

  int rank_of(std::size_t subsystem) const { return rank_of_[subsystem]; }
  std::vector<std::size_t> subsystems_of(int rank) const;
  const std::vector<int>& ranks() const { return rank_of_; }

 private:
  std::vector<int> rank_of_;
};

}  // namespace concord
