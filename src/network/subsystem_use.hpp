#pragma once

#include <vector>

#include "network/own_subsystems.hpp"
#include "network/rank_layout.hpp"

namespace concord {

/// Of a rank's inputs those that something feeds or that are given values; of its outputs those
/// that feed something or are recorded: what Subsystem::note_use tells.
class SubsystemUse {
 public:
  SubsystemUse(const Network& network, const RankLayout& layout, const SettingsList& settings);

  /// To own subsystem k, whose call it is.
  void tell(std::size_t k, Subsystem& subsystem) const;

  /// The input is given values; whether that is new.
  bool note_given(std::size_t input);

  void io(Archive& archive) { CONCORD_MEMBERS_PER(archive, Per::input, given_); }

 private:
  const RankLayout& layout_;
  std::vector<char> given_, looked_at_;
};

}  // namespace concord
