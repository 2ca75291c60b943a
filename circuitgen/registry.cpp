#include "circuitgen/registry.h"

#include "circuitgen/aes128.h"

namespace tinyot {
namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Circuit> (*make)();
};
constexpr Entry kCircuits[] = {{"aes128", make_aes128}};

std::string plain(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c == '-' || c == '_') continue;
    result.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return result;
}

}  // namespace

std::vector<std::string> circuit_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kCircuits) names.emplace_back(entry.name);
  return names;
}

std::unique_ptr<Circuit> find_circuit(std::string_view name) {
  const std::string wanted = plain(name);
  for (const Entry& entry : kCircuits) {
    if (plain(entry.name) == wanted) return entry.make();
  }
  return nullptr;
}

}  // namespace tinyot
