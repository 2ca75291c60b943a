// What a party does with its peer: preprocessing, runs, stores.
#pragma once

#include <pybind11/pybind11.h>

namespace tinyot::python {

void register_jobs(pybind11::module_& module);
void register_stores(pybind11::module_& module);

}  // namespace tinyot::python
