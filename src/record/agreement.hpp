#pragma once

#include <mpi.h>

#include <functional>
#include <optional>
#include <string>

namespace concord {

/// Runs `action` on every rank of comm and lets the ranks agree: the message of the lowest rank on
/// which it threw, the same on every rank, or nothing when it went well everywhere. Collective;
/// `action` must not communicate after the point where it may throw on some ranks only.
std::optional<std::string> failure_on_any_rank(MPI_Comm comm, const std::function<void()>& action);

}  // namespace concord
