// Circuits: from Python functions, by name, and from files.
#pragma once

#include <pybind11/pybind11.h>

namespace tinyot::python {

void register_circuits(pybind11::module_& module);

}  // namespace tinyot::python
