#include "support/pipe.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "concord/errors.hpp"

namespace concord {

Pipe::Pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw SimulationError(std::string("cannot make a pipe: ") + std::strerror(errno));
  reads.reset(ends[0]);
  writes.reset(ends[1]);
}

}  // namespace concord
