// What the daemon tells the service manager that has started it, in the protocol of sd_notify(3).
// The socket is kept, so that a daemon without a free descriptor still shows that it runs.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string_view>

#include "system/descriptor.h"

namespace tinyot::service {

class ServiceManager {
 public:
  // Of the environment variable NOTIFY_SOCKET; without it, nobody is told.
  ServiceManager();
  // What cannot be sent now is lost.
  void tell(std::string_view state) const;

 private:
  sockaddr_un address_{};
  socklen_t address_size_ = 0;
  system::Descriptor socket_;
};

}  // namespace tinyot::service
