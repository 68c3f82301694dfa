#include "support/node_token.hpp"

#include <mpi.h>

#include <random>

#include "support/ranks.hpp"

namespace concord {
namespace {

std::string drawn() {
  constexpr char digits[] = "0123456789abcdef";
  std::random_device device;
  std::string token;
  for (int i = 0; i < 32; ++i) token += digits[device() % 16];
  return token;
}

std::string& token() {
  static std::string own = drawn();
  return own;
}

}  // namespace

const std::string& node_token() { return token(); }

void share_node_token() {
  const int size = ranks_of(MPI_COMM_WORLD);
  if (size == 1) return;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  std::string& text = token();
  MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, node);
  MPI_Comm_free(&node);
}

}  // namespace concord
