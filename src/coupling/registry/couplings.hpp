#pragma once

#include <memory>

#include "coupling/coupling.hpp"

namespace concord {

/// `defaults`: the -subsystem_* settings without a name; `loosest_rtol`: the largest of all.
std::unique_ptr<Coupling> make_coupling(const Method& method, RankNetwork& subsystems,
                                        const SubsystemSettings& defaults, double loosest_rtol);

}  // namespace concord
