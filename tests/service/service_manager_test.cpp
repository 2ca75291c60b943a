// What a service manager is told, at a socket in the file system and at an abstract one.
#include "service/service_manager.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>

#include "tests/support/files.h"
#include "tests/support/temporary_variable.h"

namespace tinyot::service {
namespace {

// The socket that a variable of this text names.
system::Descriptor manager_at(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  if (name.front() == '@') address.sun_path[0] = '\0';
  system::Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())),
            0);
  return socket;
}

std::string received(const system::Descriptor& socket) {
  char text[64];
  const ssize_t size = ::recv(socket.get(), text, sizeof text, 0);
  return size < 0 ? "" : std::string(text, static_cast<std::size_t>(size));
}

TEST(ServiceManager, IsToldAtFilesAndAbstractNames) {
  const test::TestDirectory directory;
  for (const std::string& name :
       {(directory / "notify").string(), "@tinyot-test-" + std::to_string(::getpid())}) {
    const test::TemporaryVariable variable("NOTIFY_SOCKET", name);
    const system::Descriptor socket = manager_at(name);
    const ServiceManager manager;
    manager.tell("READY=1");
    manager.tell("WATCHDOG=1");
    EXPECT_EQ(received(socket), "READY=1") << name;
    EXPECT_EQ(received(socket), "WATCHDOG=1") << name;
  }
}

TEST(ServiceManager, NeedNotBeThere) {
  ::unsetenv("NOTIFY_SOCKET");
  ServiceManager().tell("READY=1");
  const test::TestDirectory directory;
  for (const std::string& name :
       {std::string(), (directory / "none").string(), std::string(1000, '/')}) {
    const test::TemporaryVariable variable("NOTIFY_SOCKET", name);
    ServiceManager().tell("READY=1");
  }
}

}  // namespace
}  // namespace tinyot::service
