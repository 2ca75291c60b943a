// The circuits that are known by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "circuitgen/gate.h"

namespace tinyot {

// In the order in which they are listed to a user.
std::vector<std::string> circuit_names();

// Null if no circuit has this name. Case, '-' and '_' do not matter: "AES-128" is "aes128".
std::unique_ptr<Circuit> find_circuit(std::string_view name);

}  // namespace tinyot
