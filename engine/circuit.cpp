#include "tinyot/circuit.h"

#include "base/error.h"
#include "base/suggestion.h"
#include "circuitgen/formats/bristol_writer.h"
#include "circuitgen/formats/circuit_file.h"
#include "circuitgen/formats/file_description.h"
#include "circuitgen/formats/text_source.h"
#include "circuitgen/generators/registry.h"
#include "engine/loaded_circuit.h"
#include "system/output_file.h"

namespace tinyot::circuit {

std::unique_ptr<Circuit> named_circuit(const std::string& name) {
  auto circuit = find_circuit(name);
  if (!circuit)
    throw UsageError("there is no circuit '" + name + "'" +
                     did_you_mean(name.substr(0, name.find(':')), circuit_names()));
  return circuit;
}

std::string circuit_name_for(const std::string& name, const std::string& bundle,
                             const std::string& type) {
  return spec_for_type(name, bundle, type);
}

std::unique_ptr<Circuit> read_circuit_file(const std::filesystem::path& file) {
  return read_circuit(open_text_file(file.string()), file.stem().string(), {});
}

void write_circuit_file(const Circuit& circuit, const std::filesystem::path& file) {
  const auto checked = engine::LoadedCircuit::borrowed(circuit, 1);
  system::NewFile written(file.string());
  write_bristol_fashion(checked.circuit(), written.stream());
  write_description(circuit.info(), written.stream());
  written.finish();
}

}  // namespace tinyot::circuit
