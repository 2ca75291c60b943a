#include "circuitgen/generators/registry.h"

#include <iterator>
#include <utility>

#include "base/error.h"
#include "circuitgen/generators/aes.h"
#include "circuitgen/generators/aes_ctr.h"
#include "circuitgen/generators/aes_gcm.h"
#include "circuitgen/generators/comparisons.h"
#include "circuitgen/generators/hamming.h"
#include "circuitgen/generators/hmac.h"
#include "circuitgen/generators/kept_keys.h"
#include "circuitgen/generators/key_uses.h"
#include "circuitgen/generators/levenshtein.h"
#include "circuitgen/generators/minimum.h"
#include "circuitgen/generators/random_layers.h"
#include "circuitgen/generators/set_intersection.h"
#include "circuitgen/generators/sha2.h"
#include "circuitgen/generators/sha3.h"
#include "circuitgen/generators/sort.h"
#include "circuitgen/generators/sorted_set_intersection.h"
#include "circuitgen/generators/tls13.h"

namespace tinyot::circuit {

namespace {

std::vector<CircuitFamily> all_families() {
  std::vector<CircuitFamily> families = {aes_family(128), aes_family(192), aes_family(256)};
  const auto append = [&families](std::vector<CircuitFamily> more) {
    std::move(more.begin(), more.end(), std::back_inserter(families));
  };
  for (const std::uint32_t key_bits : {128, 256}) {
    append({aes_ctr_family(key_bits)});
    append(aes_gcm_families(key_bits));
  }
  append({sha256_family(), sha512_family(), sha3_family(), hmac_sha256_family(),
          hkdf_sha256_family(), tls13_family(), millionaires_family(), hamming_family(),
          set_intersection_family(), sorted_set_intersection_family(), minimum_family(),
          levenshtein_family(), sort_family(), comparisons_family(), random_layers_family()});
  return families;
}

class BuiltInCircuit final : public Circuit {
 public:
  BuiltInCircuit(std::unique_ptr<Circuit> circuit, BuiltIn what)
      : circuit_(std::move(circuit)), what_(std::move(what)) {}
  const CircuitInfo& info() const override { return circuit_->info(); }
  void generate(GateSink& sink) const override { circuit_->generate(sink); }
  const BuiltIn& what() const { return what_; }

 private:
  std::unique_ptr<Circuit> circuit_;
  BuiltIn what_;
};

// Null if none of the families has this name.
std::unique_ptr<Circuit> find_in(const std::vector<CircuitFamily>& families,
                                 std::string_view spec) {
  const std::size_t colon = spec.find(':');
  for (const CircuitFamily& family : families) {
    if (!same_name(family.name, spec.substr(0, colon))) continue;
    const std::string_view text =
        colon == std::string_view::npos ? std::string_view() : spec.substr(colon + 1);
    const CircuitArguments arguments = family.parse(text);
    return std::make_unique<BuiltInCircuit>(family.make(arguments),
                                            BuiltIn{arguments.full_spec(), family.revision});
  }
  return nullptr;
}

}  // namespace

const std::vector<CircuitFamily>& circuit_families() {
  static const std::vector<CircuitFamily> kFamilies = all_families();
  return kFamilies;
}

std::vector<std::string> circuit_names() {
  std::vector<std::string> names;
  for (const CircuitFamily& family : circuit_families()) names.push_back(family.name);
  return names;
}

std::unique_ptr<Circuit> find_circuit(std::string_view spec) {
  return find_in(circuit_families(), spec);
}

const std::vector<CircuitFamily>& key_circuit_families() {
  static const std::vector<CircuitFamily> kFamilies = [] {
    std::vector<CircuitFamily> families = key_use_families();
    families.insert(families.end(), {key_check_family(), key_load_family(), key_derive_family()});
    return families;
  }();
  return kFamilies;
}

std::unique_ptr<Circuit> find_key_circuit(std::string_view spec) {
  return find_in(key_circuit_families(), spec);
}

std::optional<BuiltIn> built_in(const Circuit& circuit) {
  const auto* const found = dynamic_cast<const BuiltInCircuit*>(&circuit);
  if (found == nullptr) return std::nullopt;
  return found->what();
}

}  // namespace tinyot::circuit
