#include "tinyot/circuit.h"

#include "base/error.h"
#include "circuitgen/formats/circuit_file.h"
#include "circuitgen/formats/text_source.h"
#include "circuitgen/generators/registry.h"

namespace tinyot::circuit {

std::unique_ptr<Circuit> named_circuit(const std::string& name) {
  auto circuit = find_circuit(name);
  if (!circuit) throw UsageError("there is no circuit '" + name + "'");
  return circuit;
}

std::unique_ptr<Circuit> read_circuit_file(const std::filesystem::path& file) {
  return read_circuit(open_text_file(file.string()), file.stem().string(), {});
}

}  // namespace tinyot::circuit
