#include "engine/circuit_source.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "checks/session.h"
#include "circuitgen/formats/text_source.h"
#include "circuitgen/generators/registry.h"
#include "crypto/random_oracle.h"

namespace tinyot::engine {
namespace {

constexpr std::uint64_t kSmallGates = std::uint64_t{1} << 22;

std::string digest_of(const circuit::TextSource& text) {
  crypto::RandomOracle oracle({}, {"circuit file", '*', 0});
  std::vector<char> block(std::size_t{1} << 18);
  for (std::uint64_t at = 0; at < text.bytes(); at += block.size()) {
    block.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), text.bytes() - at)));
    text.read(at, block);
    oracle.absorb(std::as_bytes(std::span(block)));
  }
  return short_name(SessionId{oracle.digest().bytes});
}

}  // namespace

LoadedCircuit::LoadedCircuit(std::unique_ptr<circuit::Circuit> circuit, std::string fingerprint,
                             std::size_t lanes)
    : circuit_(std::move(circuit)), fingerprint_(std::move(fingerprint)), lanes_(lanes),
      small_cost_(circuit::cost_within(*circuit_, kSmallGates)) {}

std::optional<LoadedCircuit> LoadedCircuit::generated(const std::string& name, std::size_t lanes) {
  auto found = circuit::find_circuit(name);
  if (!found) return std::nullopt;
  std::string fingerprint = found->info().name;
  return LoadedCircuit(std::move(found), std::move(fingerprint), lanes);
}

LoadedCircuit LoadedCircuit::from_file(const std::string& path,
                                       const circuit::CircuitFileOptions& options,
                                       std::size_t lanes) {
  const auto text = circuit::open_text_file(path);
  auto circuit = circuit::read_circuit(text, std::filesystem::path(path).stem().string(), options);
  std::string fingerprint = circuit->info().name + " " + digest_of(*text) + " inputs";
  for (const circuit::InputBundle& bundle : circuit->info().inputs)
    fingerprint += std::string(" ") + letter(*bundle.owner) + std::to_string(bundle.bits);
  fingerprint += " outputs to " + std::string(name_of(options.other_receivers));
  return LoadedCircuit(std::move(circuit), std::move(fingerprint), lanes);
}

const circuit::CircuitCost& LoadedCircuit::cost() const {
  if (small_cost_) return *small_cost_;
  if (!large_cost_) large_cost_ = circuit::cost_of(*circuit_);
  return *large_cost_;
}

}  // namespace tinyot::engine
