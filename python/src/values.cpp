#include "python/src/values.h"

#include <string>
#include <string_view>

namespace tinyot::python {
namespace py = pybind11;

namespace {

void add(Values& values, const std::string& name, const py::bytes& packed, std::size_t lanes) {
  const auto all = std::as_bytes(std::span<const char>(std::string_view(packed)));
  require(lanes > 0 && all.size() % lanes == 0, "the packed values have different lengths");
  const std::size_t size = all.size() / lanes;
  for (std::size_t lane = 0; lane < lanes; ++lane) values.add(name, all.subspan(lane * size, size));
}

}  // namespace

py::dict packed(const Values& values) {
  py::dict packed;
  for (const std::string& name : values.names()) {
    const std::size_t lanes = values.lanes(name), size = values.bytes(name).size();
    PyObject* bytes = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(lanes * size));
    if (bytes == nullptr) throw py::error_already_set();
    const auto owned = py::reinterpret_steal<py::bytes>(bytes);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const auto value = values.bytes(name, lane);
      std::copy(value.begin(), value.end(),
                reinterpret_cast<std::byte*>(PyBytes_AS_STRING(bytes)) + lane * size);
    }
    packed[py::str(name)] = py::make_tuple(owned, lanes);
  }
  return packed;
}

void register_values(py::module_& module) {
  py::class_<Values>(module, "Values").def(py::init<>()).def("add", &add);
}

}  // namespace tinyot::python
