// Integers in circuits that Python functions describe.
//
// Python decides when an object is destroyed, and may do so on any thread and after the circuit's
// builder has gone. So a Bits is known to its Trace, one generation of the circuit, which takes the
// wires back when it ends, and those that another thread has released before the next operation.
// All of this happens with the GIL held. The operations themselves run without it: they emit gates,
// and the receiver of the gates may wait for a party that runs in the same interpreter.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "tinyot/tinyot.h"

namespace tinyot::python {

class Bits;

// While one lives, traces that begin on its thread end with Cancelled once a stop is requested.
class CancelScope {
 public:
  explicit CancelScope(std::stop_token token);
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

 private:
  std::stop_token outer_;
};

class Trace : public std::enable_shared_from_this<Trace> {
 public:
  Trace();
  std::unique_ptr<Bits> make(circuit::Number value);
  // Checks that an operation may be done now, on this thread, and frees what others have released.
  // Fails: UsageError; Cancelled.
  void begin_operation();
  // All values of the trace become unusable.
  void end();

 private:
  friend class Bits;
  void remove(Bits& bits);

  const std::thread::id thread_ = std::this_thread::get_id();
  const std::stop_token cancel_;
  bool has_ended_ = false;
  Bits* first_ = nullptr;                  // list of the live values
  std::vector<circuit::Number> released_;  // by other threads
};

class Bits {
 public:
  Bits(std::shared_ptr<Trace> trace, circuit::Number value);
  ~Bits();
  Bits(const Bits&) = delete;
  Bits& operator=(const Bits&) = delete;

  std::size_t size() const { return size_; }
  const circuit::Number& value() const { return value_; }
  // Null for constants.
  const std::shared_ptr<Trace>& trace() const { return trace_; }

 private:
  friend class Trace;
  const std::shared_ptr<Trace> trace_;
  const std::size_t size_;
  circuit::Number value_;
  Bits *next_ = nullptr, *previous_ = nullptr;
};

void register_bits(pybind11::module_& module);

}  // namespace tinyot::python
