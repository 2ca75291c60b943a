// Values of inputs and outputs between Python and the library: the packed values (tinyot/values.h)
// of all lanes one after the other, and the number of lanes.
//
// Inputs are an object of their own in Python, because an exception for a wrong argument prints the
// others.
#pragma once

#include <pybind11/pybind11.h>

#include "tinyot/tinyot.h"

namespace tinyot::python {

void register_values(pybind11::module_& module);
// By name, the packed values and the number of lanes.
pybind11::dict packed(const Values& values);

}  // namespace tinyot::python
