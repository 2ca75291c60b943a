#include "python/src/circuits.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "python/src/bits.h"
#include "python/src/values.h"

namespace tinyot::python {
namespace {

namespace py = pybind11;
using circuit::Circuit;
using circuit::InputSource;
using circuit::Number;
using circuit::Program;
using circuit::Reading;
using circuit::Receiver;

constexpr std::string_view kSigned = name_of(Reading::Signed);

struct Input {
  std::string name;
  std::uint32_t bits;
  InputSource source;
  bool is_common;
  std::string
      type;  // empty: a number without a sign; "signed": one that no type is wide enough for

  Number in(Program& program) const {
    Number number =
        is_common ? program.common_input(name, bits, source) : program.input(name, bits, source);
    if (type == kSigned)
      program.set_input_reading(name, Reading::Signed);
    else
      program.set_input_type(name, type);
    return number;
  }
};

using Output = std::tuple<std::string, const Bits*, Receiver, std::string>;

// Ends a trace, with the GIL held.
class TraceScope {
 public:
  ~TraceScope() { trace->end(); }
  const std::shared_ptr<Trace> trace = std::make_shared<Trace>();
};

// Calls function([bits of each input]), which returns a list of outputs. Gates are emitted without
// the GIL, see bits.h.
void describe(Program& program, const std::vector<Input>& inputs, const py::function& function) {
  std::vector<Number> values;
  values.reserve(inputs.size());
  for (const Input& input : inputs) values.push_back(input.in(program));
  const py::gil_scoped_acquire gil;
  const TraceScope scope;
  py::list arguments;
  for (Number& value : values) arguments.append(scope.trace->make(std::move(value)));
  const py::object results = function(arguments);
  for (const auto& [name, bits, receiver, type] : results.cast<std::vector<Output>>()) {
    if (bits->trace() && bits->trace() != scope.trace)
      throw UsageError("output " + name + " is a value of another circuit");
    scope.trace->begin_operation();
    const py::gil_scoped_release release;
    program.output(name, bits->value(), receiver);
    if (type == kSigned)
      program.set_output_reading(name, Reading::Signed);
    else
      program.set_output_type(name, type);
  }
}

std::shared_ptr<Circuit> from_function(const std::string& name, std::vector<Input> inputs,
                                       const py::function& function) {
  // Threads of the library may destroy the last copy.
  const std::shared_ptr<py::function> shared(new py::function(function), [](py::function* last) {
    const py::gil_scoped_acquire gil;
    delete last;
  });
  const py::gil_scoped_release release;
  return circuit::make_circuit(name, [inputs = std::move(inputs), shared](Program& program) {
    describe(program, inputs, *shared);
  });
}

py::dict info_of(const Circuit& circuit) {
  py::list inputs, outputs;
  for (const auto& input : circuit.info().inputs)
    inputs.append(py::dict(py::arg("name") = input.name, py::arg("bits") = input.bits,
                           py::arg("source") = name_of(input.source),
                           py::arg("format") = name_of(input.format), py::arg("type") = input.type,
                           py::arg("reading") = name_of(input.reading),
                           py::arg("same_in_all_lanes") = input.same_in_all_lanes));
  for (const auto& output : circuit.info().outputs)
    outputs.append(
        py::dict(py::arg("name") = output.name, py::arg("bits") = output.bits,
                 py::arg("to") = name_of(output.to), py::arg("format") = name_of(output.format),
                 py::arg("type") = output.type, py::arg("reading") = name_of(output.reading)));
  return py::dict(py::arg("name") = circuit.info().name, py::arg("inputs") = inputs,
                  py::arg("outputs") = outputs);
}

py::dict counted(const Circuit& circuit, const std::stop_source& stop) {
  const CancelScope scope(stop.get_token());
  circuit::GateCounts counts;
  {
    const py::gil_scoped_release release;
    counts = count_gates(circuit);
  }
  return py::dict(py::arg("ands") = counts.ands, py::arg("xors") = counts.xors,
                  py::arg("nots") = counts.nots, py::arg("depth") = counts.and_depth);
}

std::string fingerprint_text(const Circuit& circuit, const std::stop_source& stop) {
  const CancelScope scope(stop.get_token());
  const py::gil_scoped_release release;
  return text_of(fingerprint_of(circuit));
}

py::dict evaluated(const Circuit& circuit, const Values& inputs, std::size_t lanes,
                   const std::stop_source& stop) {
  const CancelScope scope(stop.get_token());
  Values outputs;
  {
    const py::gil_scoped_release release;
    outputs = evaluate(circuit, inputs, lanes);
  }
  return packed(outputs);
}

void save(const Circuit& circuit, const std::filesystem::path& file, const std::stop_source& stop) {
  const CancelScope scope(stop.get_token());
  const py::gil_scoped_release release;
  write_circuit_file(circuit, file);
}

}  // namespace

void register_circuits(py::module_& module) {
  py::enum_<Party>(module, "Letter").value("A", Party::A).value("B", Party::B);
  py::enum_<InputSource>(module, "InputSource")
      .value("A", InputSource::A)
      .value("B", InputSource::B)
      .value("shared", InputSource::Shared)
      .value("public", InputSource::Public);
  py::enum_<Receiver>(module, "Receiver")
      .value("A", Receiver::A)
      .value("B", Receiver::B)
      .value("both", Receiver::Both)
      .value("none", Receiver::None);
  py::class_<Input>(module, "Input")
      .def(py::init<std::string, std::uint32_t, InputSource, bool, std::string>());
  py::class_<Circuit, std::shared_ptr<Circuit>>(module, "Circuit")
      .def_static("from_function", &from_function)
      .def_static(
          "named",
          [](const std::string& name) -> std::shared_ptr<Circuit> {
            return circuit::named_circuit(name);
          },
          py::call_guard<py::gil_scoped_release>())
      .def_static(
          "read",
          [](const std::filesystem::path& file) -> std::shared_ptr<Circuit> {
            return circuit::read_circuit_file(file);
          },
          py::call_guard<py::gil_scoped_release>())
      .def_static("name_for", &circuit::circuit_name_for)
      .def("check_inputs",
           [](const Circuit& circuit, Party party, const Values& inputs, std::size_t lanes) {
             circuit::check_inputs(circuit, party, inputs, lanes);
           })
      .def("info", &info_of)
      .def("count", &counted)
      .def("fingerprint", &fingerprint_text)
      .def("evaluate", &evaluated)
      .def("save", &save);
}

}  // namespace tinyot::python
