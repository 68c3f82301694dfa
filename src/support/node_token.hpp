#pragma once

#include <string>

namespace concord {

/// 32 hexadecimal digits that the processes of this MPI job on this node know, and nobody else can
/// guess; without MPI, this process alone.
const std::string& node_token();

/// Makes it the same on all ranks of this node. Collective on MPI_COMM_WORLD, right after MPI_Init.
void share_node_token();

}  // namespace concord
