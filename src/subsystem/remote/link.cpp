#include "subsystem/remote/link.hpp"

#include <regex>

#include "subsystem/remote/memory_link.hpp"
#include "subsystem/remote/socket_link.hpp"

namespace concord {

bool is_remote_address(const std::string& text, RemoteSide side) {
  static const std::regex known(
      R"(tcp://(\[[^\]]+\]|[^:/\s]+):([0-9]{1,5})|ipc://\S+|shm://([A-Za-z0-9_.-]+|/\S+))");
  std::smatch parts;
  if (!std::regex_match(text, parts, known)) return false;
  const bool anywhere = parts[1] == "*";
  return !(anywhere && side == RemoteSide::connects) &&
         !(parts[2].matched && std::stoi(parts[2]) > 65535);
}

bool is_in_memory(const std::string& address) { return address.starts_with("shm://"); }

std::shared_ptr<RemoteLink> make_remote_link(const std::string& address, RemoteSide side) {
  if (is_in_memory(address)) return std::make_shared<MemoryLink>(address, side);
  return std::make_shared<SocketLink>(address, side);
}

}  // namespace concord
