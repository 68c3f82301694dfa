#pragma once

#include <memory>
#include <vector>

#include "subsystem/remote/peer.hpp"

namespace concord {

/// A process outside that takes each macro-step when it is asked to.
class SteppedRemote final : public Subsystem {
 public:
  SteppedRemote(std::shared_ptr<const RemoteDescription> remote, std::shared_ptr<RemoteLink> link,
                const SubsystemSettings& settings);

  void start(const MacroStep& first, double stop) override;
  Outcome advance(const MacroStep& step, std::span<const Polynomial> inputs,
                  InputContinuity continuity, Wanted wanted, std::span<Sample> outputs) override;
  Outcome point_outputs(std::span<const Sample> inputs, Wanted wanted,
                        std::span<Sample> outputs) override;
  Outcome set_parameter(std::size_t parameter, double value) override;
  std::optional<double> parameter(std::size_t parameter) override {
    return now_.parameters.at(parameter);
  }
  void save() override {
    saved_ = now_;
    keeps_ = true;
  }
  void restore() override;
  bool io(Archive& archive) override;

 private:
  bool take(const RemoteAnswer& answer);
  bool put_out(const RemoteAnswer& answer, Wanted wanted, std::span<Sample> outputs);
  void count();

  std::shared_ptr<const RemoteDescription> remote_;
  RemotePeer peer_;
  RemotePoint now_, saved_;
  double stop_ = 0.0;
  bool started_ = false;
  bool keeps_ = false;  ///< the next step may be taken back
};

}  // namespace concord
