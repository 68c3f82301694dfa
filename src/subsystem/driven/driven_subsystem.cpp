#include "subsystem/driven/driven_subsystem.hpp"

#include <algorithm>

#include "subsystem/decorator.hpp"

namespace concord {

namespace {

/// For each input of the subsystem its signal, or the input that is left; one of both.
struct Source {
  bool is_signal = false;
  std::size_t index = 0;
};

std::vector<Source> sources_of(std::size_t n_inputs, const Drive& drive) {
  std::vector<Source> result(n_inputs);
  for (std::size_t k = 0; k < drive.inputs.size(); ++k) result[drive.inputs[k]] = {true, k};
  std::size_t left = 0;
  for (Source& source : result)
    if (!source.is_signal) source.index = left++;
  return result;
}

class DrivenSubsystem final : public SubsystemDecorator<DrivenSubsystem> {
 public:
  DrivenSubsystem(std::unique_ptr<Subsystem> inner, const Drive& drive)
      : SubsystemDecorator(std::move(inner), driven_description(inner->description(), drive)),
        drive_(drive),
        sources_(sources_of(this->inner().description().inputs.size(), drive)),
        polynomials_(sources_.size()),
        samples_(sources_.size()) {}

  void start(const MacroStep& first, double stop) override {
    at_ = saved_ = {first.begin};
    SubsystemDecorator::start(first, stop);
  }
  void note_use(std::span<const char> fed, std::span<const char> looked_at) override;
  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                  InputContinuity continuity, Wanted wanted, std::span<Sample> outputs) override;
  Outcome point_outputs(std::span<const Sample> inputs, Wanted wanted,
                        std::span<Sample> outputs) override {
    show_signals(outputs, false);
    return SubsystemDecorator::point_outputs(inputs, wanted, own(outputs));
  }
  Outcome linearize(std::span<const Sample> /*inputs*/, Linearization& /*result*/) override {
    failure_ = "a subsystem with inputs from a file gives no linearization";
    return Outcome::failed;
  }
  bool io(Archive& archive) override {
    const bool passed = SubsystemDecorator::io(archive);
    CONCORD_MEMBERS(archive, at_.t, saved_.t);
    return passed;
  }
  void save() override {
    saved_ = at_;
    SubsystemDecorator::save();
  }
  void restore() override {
    at_ = saved_;
    SubsystemDecorator::restore();
  }

  std::span<const Sample> fed(std::span<const Sample> inputs);

 private:
  struct Memory {
    double t = 0.0;
  };

  std::span<Sample> own(std::span<Sample> outputs) const {
    return outputs.first(inner().description().outputs.size());
  }
  void show_signals(std::span<Sample> outputs, bool before) const;
  void feed(const MacroStep& step, double begin, std::span<const Polynomial> inputs);
  Polynomial piece(std::size_t signal, double begin) const;

  Drive drive_;
  std::vector<Source> sources_;
  std::vector<Polynomial> polynomials_;
  std::vector<Sample> samples_;
  Memory at_, saved_;
};

/// Signals feed the inputs that they stand for.
void DrivenSubsystem::note_use(std::span<const char> fed, std::span<const char> looked_at) {
  std::vector<char> all(sources_.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = sources_[i].is_signal ? 1 : fed[sources_[i].index];
  SubsystemDecorator::note_use(all, looked_at.first(inner().description().outputs.size()));
}

/// All inputs of the subsystem at the current time; none where not all are known.
std::span<const Sample> DrivenSubsystem::fed(std::span<const Sample> inputs) {
  if (inputs.size() < description_.inputs.size()) return {};
  for (std::size_t i = 0; i < samples_.size(); ++i)
    samples_[i] = sources_[i].is_signal ? drive_.signals->from_right(sources_[i].index, at_.t)
                                        : inputs[sources_[i].index];
  return samples_;
}

/// The signals behind the outputs, `before` or after what jumps now.
void DrivenSubsystem::show_signals(std::span<Sample> outputs, bool before) const {
  const std::size_t first = inner().description().outputs.size();
  for (std::size_t k = 0; k < drive_.inputs.size(); ++k)
    outputs[first + k] =
        before ? drive_.signals->from_left(k, at_.t) : drive_.signals->from_right(k, at_.t);
}

Polynomial DrivenSubsystem::piece(std::size_t signal, double begin) const {
  const Sample at = drive_.signals->from_right(signal, begin);
  const bool takes_slopes = description_.capabilities.polynomial_inputs;
  return {{at.value, drive_.any_step || takes_slopes ? at.derivative : 0.0, 0.0, 0.0}};
}

void DrivenSubsystem::feed(const MacroStep& step, double begin,
                           std::span<const Polynomial> inputs) {
  for (std::size_t i = 0; i < polynomials_.size(); ++i)
    polynomials_[i] = sources_[i].is_signal
                          ? piece(sources_[i].index, begin)
                          : inputs[sources_[i].index].moved_to(begin - step.begin);
}

Outcome DrivenSubsystem::advance(const MacroStep& step, std::span<const Polynomial> inputs,
                                 InputContinuity continuity, Wanted wanted,
                                 std::span<Sample> outputs) {
  Outcome outcome = Outcome::ok;
  for (double begin = step.begin; outcome == Outcome::ok && begin < step.end;) {
    const double row = drive_.any_step ? drive_.signals->next_row(begin) : step.end;
    const double end = std::min(row, step.end);
    const bool whole = begin == step.begin && end == step.end;
    feed(step, begin, inputs);
    outcome = SubsystemDecorator::advance(whole ? step : MacroStep{begin, end}, polynomials_,
                                          whole ? continuity : InputContinuity::broken,
                                          end == step.end ? wanted : Wanted::values, own(outputs));
    begin = end;
  }
  at_.t = step.end;
  show_signals(outputs, drive_.any_step);
  return outcome;
}

}  // namespace

SubsystemDescription driven_description(const SubsystemDescription& inner, const Drive& drive) {
  SubsystemDescription result = inner;
  const std::vector<Source> sources = sources_of(inner.inputs.size(), drive);
  result.inputs.clear();
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (!sources[i].is_signal) result.inputs.push_back(inner.inputs[i]);
  for (const std::size_t i : drive.inputs)
    result.outputs.push_back({inner.inputs[i].name, inner.inputs[i].unit, inner.inputs[i].nominal});
  result.feedthrough.clear();
  for (const Feedthrough& pair : inner.feedthrough)
    if (!sources[pair.input].is_signal)
      result.feedthrough.push_back({pair.output, sources[pair.input].index});
  result.capabilities.linearization = result.capabilities.equations = false;
  result.capabilities.state_outputs = result.capabilities.output_curvatures = false;
  return result;
}

std::unique_ptr<Subsystem> drive_subsystem(std::unique_ptr<Subsystem> inner, const Drive& drive) {
  return std::make_unique<DrivenSubsystem>(std::move(inner), drive);
}

}  // namespace concord
