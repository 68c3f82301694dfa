#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "class_code.hpp"
#include "concord/subsystem.hpp"

namespace concord::python {

/// A class with step(self, t, h, u), which integrates itself.
class ClassSubsystem : public Subsystem {
 public:
  explicit ClassSubsystem(ClassCode code);

  void start(const MacroStep& first, double stop) override;
  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                  InputContinuity continuity, Wanted wanted, std::span<Sample> outputs) override;
  Outcome point_outputs(std::span<const Sample> inputs, Wanted wanted,
                        std::span<Sample> outputs) override;
  Outcome set_parameter(std::size_t parameter, double value) override;
  std::optional<double> parameter(std::size_t parameter) override;
  void save() override { saved_ = memory(); }
  void restore() override { remember(saved_); }
  bool io(Archive& archive) override;

 private:
  class Inputs;

  static SubsystemDescription described(const ClassCode& code);
  void step(double h, std::span<const Polynomial> inputs);
  std::vector<double> outputs_for(std::span<const double> u) const;
  std::vector<double> slopes_for(std::span<const Sample> inputs, std::span<const double> values);
  std::vector<double> given_slopes(std::span<const Sample> inputs) const;
  std::vector<double> tried_slopes(std::span<const Sample> inputs, std::span<const double> values);
  std::array<std::vector<double>, 2> tried_outputs(std::span<const Sample> inputs, double d);
  void put_out(std::span<const Sample> inputs, Wanted wanted, std::span<Sample> outputs);

  /// What it remembers, and when.
  struct Memory {
    std::string bytes;
    double time = 0.0;
    void io(Archive& archive) { CONCORD_MEMBERS(archive, bytes, time); }
  };
  Memory memory() const;
  void remember(const Memory& memory);

  std::shared_ptr<const ClassCode> code_;
  py::object step_, slopes_at_;  ///< slopes_at: None where there is none
  double time_ = 0.0;            ///< s
  double step_size_ = 0.0;       ///< s, of the last macro-step
  Memory saved_;
};

}  // namespace concord::python
