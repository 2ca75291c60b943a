// Exceptions of the library as the classes of tinyot/_errors.py.
#pragma once

namespace tinyot::python {

void register_errors();

}  // namespace tinyot::python
