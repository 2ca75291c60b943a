#include "service/service_manager.h"

#include <cstddef>
#include <cstdlib>

namespace tinyot::service {

ServiceManager::ServiceManager() {
  const char* const name = std::getenv("NOTIFY_SOCKET");
  const std::string_view path = name != nullptr ? name : "";
  if (path.empty() || path.size() >= sizeof address_.sun_path) return;
  address_.sun_family = AF_UNIX;
  path.copy(address_.sun_path, path.size());
  if (path.front() == '@') address_.sun_path[0] = '\0';  // not a file, but an abstract name
  address_size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  socket_ = system::Descriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

void ServiceManager::tell(std::string_view state) const {
  if (!socket_.is_open()) return;
  (void)::sendto(socket_.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                 reinterpret_cast<const sockaddr*>(&address_), address_size_);
}

}  // namespace tinyot::service
