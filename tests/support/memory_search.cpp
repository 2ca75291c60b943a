#include "tests/support/memory_search.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

constexpr unsigned char kMask = 0x5C;
constexpr std::size_t kChunk = std::size_t{1} << 20, kOverlap = 256;

struct Mapping {
  std::uintptr_t begin, end;
  std::string name;
};

std::vector<Mapping> writable_mappings() {
  std::vector<Mapping> mappings;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char rights[8] = "";
    int name = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %7s %*s %*s %*s %n", &begin, &end, rights, &name) != 3)
      continue;
    if (rights[0] == 'r' && rights[1] == 'w')
      mappings.push_back({begin, end, line.substr(static_cast<std::size_t>(name))});
  }
  return mappings;
}

// The bytes being searched are copied to separate memory, which is not searched.
class Window {
 public:
  Window()
      : data_(static_cast<unsigned char*>(
            ::mmap(nullptr, kChunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    if (data_ == MAP_FAILED) throw std::runtime_error("no memory to look through");
  }
  ~Window() { ::munmap(data_, kChunk); }
  unsigned char* data() const { return data_; }
  bool is_in(const Mapping& mapping) const {
    const auto mine = reinterpret_cast<std::uintptr_t>(data_);
    return mapping.begin <= mine && mine < mapping.end;
  }
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(data_); }

 private:
  unsigned char* data_;
};

}  // namespace

std::vector<MaskedSecret> made_elsewhere(const std::string& name, std::size_t bytes,
                                         const std::function<Bytes()>& make) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("cannot make a pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 1;
    try {
      Bytes secret = make();
      for (unsigned char& byte : secret) byte ^= kMask;
      status = ::write(ends[1], secret.data(), secret.size()) == static_cast<ssize_t>(secret.size())
                   ? 0
                   : 1;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    }
    ::_exit(status);
  }
  ::close(ends[1]);
  Bytes all, part(4096);
  for (ssize_t count; (count = ::read(ends[0], part.data(), part.size())) > 0;)
    all.insert(all.end(), part.begin(), part.begin() + count);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0 || all.empty() || all.size() % bytes != 0)
    throw std::runtime_error("no secret: " + name);
  std::vector<MaskedSecret> secrets;
  for (std::size_t at = 0; at < all.size(); at += bytes)
    secrets.push_back({name, Bytes(all.begin() + static_cast<std::ptrdiff_t>(at),
                                   all.begin() + static_cast<std::ptrdiff_t>(at + bytes))});
  return secrets;
}

std::vector<std::string> places_of(const std::vector<MaskedSecret>& secrets) {
  std::vector<std::string> places;
  const Window window;
  const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  if (memory < 0) throw std::runtime_error("cannot read this process's memory");
  const auto search = [&](std::uintptr_t begin, std::uintptr_t end, const std::string& mapping) {
    for (std::uintptr_t at = begin; at < end; at += kChunk - kOverlap) {
      const ssize_t count = ::pread(memory, window.data(), std::min<std::size_t>(kChunk, end - at),
                                    static_cast<off_t>(at));
      if (count <= 0) return;
      for (ssize_t i = 0; i < count; ++i) window.data()[i] ^= kMask;
      for (const MaskedSecret& secret : secrets) {
        const void* found = ::memmem(window.data(), static_cast<std::size_t>(count),
                                     secret.masked.data(), secret.masked.size());
        if (found == nullptr) continue;
        std::ostringstream place;
        place << secret.name << " at " << std::hex
              << at + static_cast<std::size_t>(static_cast<const unsigned char*>(found) -
                                               window.data())
              << " in " << begin << "-" << end << " "
              << (mapping.empty() ? "anonymous memory" : mapping);
        places.push_back(place.str());
      }
    }
  };
  for (const Mapping& mapping : writable_mappings()) {
    if (!window.is_in(mapping)) {
      search(mapping.begin, mapping.end, mapping.name);
      continue;
    }
    search(mapping.begin, window.begin(), mapping.name);
    search(window.begin() + kChunk, mapping.end, mapping.name);
  }
  ::close(memory);
  return places;
}

}  // namespace tinyot::test
