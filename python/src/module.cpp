// The extension tinyot._native. The package in python/tinyot wraps it: conversions of values,
// operators, and threads that Ctrl-C can interrupt are written in Python there.
#include <pybind11/pybind11.h>

#include <string>

#include "python/src/bits.h"
#include "python/src/circuits.h"
#include "python/src/errors.h"
#include "python/src/jobs.h"
#include "python/src/values.h"
#include "tinyot/tinyot.h"

PYBIND11_MODULE(_native, module) {
  namespace python = tinyot::python;
  module.attr("__version__") = std::string(tinyot::kVersion);
  python::register_errors();
  python::register_bits(module);
  python::register_values(module);
  python::register_circuits(module);
  python::register_jobs(module);
  python::register_stores(module);
}
