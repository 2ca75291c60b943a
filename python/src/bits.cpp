#include "python/src/bits.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace tinyot::python {
namespace {

namespace py = pybind11;
using circuit::BitSpan;
using circuit::Number;

thread_local std::stop_token cancel_of_thread;

using Owned = std::unique_ptr<Bits>;

std::shared_ptr<Trace> common_trace(std::span<const Bits* const> operands) {
  std::shared_ptr<Trace> trace;
  for (const Bits* bits : operands) {
    if (!bits->trace()) continue;
    if (trace && bits->trace() != trace)
      throw UsageError("the operands belong to different circuits");
    trace = bits->trace();
  }
  if (trace) trace->begin_operation();
  return trace;
}

Owned make(const std::shared_ptr<Trace>& trace, Number value) {
  return trace ? trace->make(std::move(value)) : std::make_unique<Bits>(nullptr, std::move(value));
}

template <class Operation>
auto without_gil(Operation operation) {
  const py::gil_scoped_release release;
  return operation();
}

// operation(out, operands...) with an `out` of `size` bits.
template <class Operation, class... Operands>
Owned apply(std::size_t size, Operation operation, const Operands&... operands) {
  const auto trace = common_trace(std::array{&operands...});
  return make(trace, without_gil([&] {
                Number out(size);
                operation(out.bits(), operands.value()...);
                return out;
              }));
}

template <class Operation>
auto bit_by_bit(Operation operation) {
  return [operation](const Bits& x, const Bits& y) {
    return apply(
        x.size(),
        [operation](std::span<circuit::Bit> out, const Number& a, const Number& b) {
          require(a.size() == b.size(), "operands of different widths");
          for (std::size_t i = 0; i < out.size(); ++i) out[i] = operation(a[i], b[i]);
        },
        x, y);
  };
}

template <auto function>
Owned arithmetic(const Bits& x, const Bits& y) {
  return apply(
      x.size(), [](auto out, const Number& a, const Number& b) { function(out, a, b); }, x, y);
}

template <auto function>
Owned comparison(const Bits& x, const Bits& y) {
  return apply(
      1, [](auto out, const Number& a, const Number& b) { out[0] = function(a, b); }, x, y);
}

Owned complement(const Bits& x) {
  return apply(
      x.size(),
      [](auto out, const Number& a) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = ~a[i];
      },
      x);
}

void divide(std::span<circuit::Bit> quotient, std::span<circuit::Bit> remainder, const Number& x,
            const Number& y, bool is_signed) {
  is_signed ? circuit::divide_signed(quotient, remainder, x, y)
            : circuit::divide(quotient, remainder, x, y);
}

Owned quotient_of(const Bits& x, const Bits& y, bool is_signed) {
  return apply(
      x.size(),
      [is_signed](auto out, const Number& a, const Number& b) { divide(out, {}, a, b, is_signed); },
      x, y);
}

Owned remainder_of(const Bits& x, const Bits& y, bool is_signed) {
  return apply(
      y.size(),
      [is_signed](auto out, const Number& a, const Number& b) { divide({}, out, a, b, is_signed); },
      x, y);
}

std::pair<Owned, Owned> divided(const Bits& x, const Bits& y, bool is_signed) {
  const auto trace = common_trace(std::array{&x, &y});
  Number quotient(x.size()), remainder(y.size());
  without_gil([&] { divide(quotient.bits(), remainder.bits(), x.value(), y.value(), is_signed); });
  return {make(trace, std::move(quotient)), make(trace, std::move(remainder))};
}

Owned is_less(const Bits& x, const Bits& y, bool is_signed) {
  return apply(
      1,
      [is_signed](auto out, const Number& a, const Number& b) {
        out[0] = is_signed ? circuit::less_signed(a, b) : circuit::less(a, b);
      },
      x, y);
}

Owned magnitude(const Bits& x) {
  return apply(
      x.size(), [](auto out, const Number& a) { circuit::magnitude(out, a); }, x);
}

Owned selected(const Bits& condition, const Bits& x, const Bits& y) {
  require(condition.size() == 1, "the condition is not one bit");
  return apply(
      x.size(),
      [](auto out, const Number& c, const Number& a, const Number& b) { select(out, c[0], a, b); },
      condition, x, y);
}

// By a public or a secret count, which is passed on.
template <class Count>
void shift_right(std::span<circuit::Bit> out, const Number& x, Count count, bool is_signed) {
  is_signed ? circuit::shift_right_signed(out, x, count) : circuit::shift_right(out, x, count);
}

Owned shifted_left(const Bits& x, std::size_t count) {
  return apply(
      x.size(), [count](auto out, const Number& a) { circuit::shift_left(out, a, count); }, x);
}

Owned shifted_left_by_secret(const Bits& x, const Bits& count) {
  return apply(
      x.size(),
      [](auto out, const Number& a, const Number& n) { circuit::shift_left(out, a, n.bits()); }, x,
      count);
}

Owned shifted_right(const Bits& x, std::size_t count, bool is_signed) {
  return apply(
      x.size(), [=](auto out, const Number& a) { shift_right(out, a, count, is_signed); }, x);
}

Owned shifted_right_by_secret(const Bits& x, const Bits& count, bool is_signed) {
  return apply(
      x.size(),
      [is_signed](auto out, const Number& a, const Number& n) {
        shift_right(out, a, n.bits(), is_signed);
      },
      x, count);
}

Owned slice(const Bits& x, std::size_t first, std::size_t count) {
  require(first <= x.size() && count <= x.size() - first, "the slice is outside the integer");
  return apply(
      count,
      [first](auto out, const Number& a) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = a[first + i];
      },
      x);
}

// Of `size` bits: the lowest ones, or further ones that are 0 or the highest bit.
Owned resized(const Bits& x, std::size_t size, bool is_signed) {
  return apply(
      size, [is_signed](auto out, const Number& a) { extend(out, a, is_signed); }, x);
}

Owned concatenated(const std::vector<const Bits*>& parts) {
  const auto trace = common_trace(parts);
  circuit::Bits all;
  for (const Bits* part : parts)
    for (std::size_t i = 0; i < part->size(); ++i) all.push_back(part->value()[i]);
  return make(trace, Number(std::move(all)));
}

Owned looked_up(const std::vector<std::uint64_t>& table, const Bits& index, std::size_t size) {
  return apply(
      size, [&](auto out, const Number& i) { look_up(out, table, i); }, index);
}

Owned ones(const Bits& x) {
  const auto trace = common_trace(std::array{&x});
  return make(trace, without_gil([&] { return Number(circuit::population_count(x.value())); }));
}

// From little-endian bytes.
Owned constant(std::size_t size, const py::bytes& value) {
  const std::string_view bytes = value;
  Number number(size);
  for (std::size_t i = 0; i < std::min(size, 8 * bytes.size()); ++i)
    number[i] = circuit::Bit(((static_cast<unsigned char>(bytes[i / 8]) >> (i % 8)) & 1) != 0);
  return make(nullptr, std::move(number));
}

}  // namespace

CancelScope::CancelScope(std::stop_token token)
    : outer_(std::exchange(cancel_of_thread, std::move(token))) {}
CancelScope::~CancelScope() { cancel_of_thread = std::move(outer_); }

Trace::Trace() : cancel_(cancel_of_thread) {}

std::unique_ptr<Bits> Trace::make(Number value) {
  auto bits = std::make_unique<Bits>(shared_from_this(), std::move(value));
  bits->next_ = std::exchange(first_, bits.get());
  if (bits->next_ != nullptr) bits->next_->previous_ = first_;
  return bits;
}

void Trace::begin_operation() {
  if (has_ended_)
    throw UsageError("a value of a circuit is used after the circuit's function has returned");
  if (std::this_thread::get_id() != thread_)
    throw UsageError("a value of a circuit is used on another thread than the circuit's function");
  if (cancel_.stop_requested()) throw Cancelled();
  released_.clear();
}

void Trace::end() {
  has_ended_ = true;
  released_.clear();
  for (Bits* bits = first_; bits != nullptr; bits = bits->next_) bits->value_ = Number();
}

void Trace::remove(Bits& bits) {
  (bits.previous_ != nullptr ? bits.previous_->next_ : first_) = bits.next_;
  if (bits.next_ != nullptr) bits.next_->previous_ = bits.previous_;
  if (!has_ended_ && std::this_thread::get_id() != thread_)
    released_.push_back(std::move(bits.value_));
}

Bits::Bits(std::shared_ptr<Trace> trace, Number value)
    : trace_(std::move(trace)), size_(value.size()), value_(std::move(value)) {}
Bits::~Bits() {
  if (trace_) trace_->remove(*this);
}

void register_bits(py::module_& module) {
  py::class_<Bits>(module, "Bits")
      .def_static("constant", &constant)
      .def_property_readonly("size", &Bits::size)
      .def("xor_", bit_by_bit([](const auto& a, const auto& b) { return a ^ b; }))
      .def("and_", bit_by_bit([](const auto& a, const auto& b) { return a & b; }))
      .def("or_", bit_by_bit([](const auto& a, const auto& b) { return a | b; }))
      .def("not_", &complement)
      .def("add", &arithmetic<circuit::add>)
      .def("subtract", &arithmetic<circuit::subtract>)
      .def("multiply", &arithmetic<circuit::multiply>)
      .def("divide", &divided)
      .def("quotient", &quotient_of)
      .def("remainder", &remainder_of)
      .def("magnitude", &magnitude)
      .def("less", &is_less)
      .def("equal", &comparison<circuit::equal>)
      .def("differ", &comparison<circuit::differ>)
      .def("shift_left", &shifted_left)
      .def("shift_right", &shifted_right)
      .def("shift_left_by", &shifted_left_by_secret)
      .def("shift_right_by", &shifted_right_by_secret)
      .def("slice", &slice)
      .def("resize", &resized)
      .def("ones", &ones)
      .def_static("select", &selected)
      .def_static("concatenate", &concatenated)
      .def_static("look_up", &looked_up);
}

}  // namespace tinyot::python
