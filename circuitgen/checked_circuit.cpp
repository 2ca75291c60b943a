#include "circuitgen/checked_circuit.h"

#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "circuitgen/canonical_stream.h"

namespace tinyot::circuit {
namespace {

// Of a canonical stream: passes blocks of gates, with the events among them, on once their hash is
// that of the record.
class GateCheck {
 public:
  GateCheck(const std::string& circuit, const GateRecord& record, GateSink& next)
      : circuit_(circuit), record_(record), next_(next) {}

  void gate(const Gate& gate, Reference in0, Reference in1) {
    event(gate);
    hash_.add(gate.kind, in0, in1);
    if (++gates_ % GateRecord::kBlockGates == 0) end_block();
  }
  [[gnu::always_inline]] void event(const Gate& gate) {
    if (waiting_count_ == waiting_.size()) [[unlikely]]
      make_room();
    waiting_[waiting_count_++] = gate;
  }
  void output(const Gate& gate, Reference in) {
    event(gate);
    hash_.add(in);
  }
  void begin_group() {
    event({GateKind::GroupBegin, 0, 0, 0});
    hash_.begin_group();
  }
  void end_group(std::span<const Reference> results) {
    event({GateKind::GroupEnd, 0, 0, 0});
    hash_.end_group(results);
  }

  void finish(bool has_all_outputs) {
    if (failure_) std::rethrow_exception(failure_);
    if (!has_all_outputs || gates_ != record_.gates || hash_.value() != record_.end) fail();
    pass_on();
  }

 private:
  void end_block() {
    if (failure_) std::rethrow_exception(failure_);
    const std::uint64_t block = gates_ / GateRecord::kBlockGates - 1;
    if (block >= record_.blocks.size() || record_.blocks[block] != hash_.value()) fail();
    pass_on();
  }
  void pass_on() {
    try {
      for (const Gate& gate : std::span(waiting_).first(waiting_count_)) next_.emit(gate);
    } catch (...) {
      failure_ = std::current_exception();
      throw;
    }
    waiting_count_ = 0;
  }
  [[gnu::noinline]] void make_room() { waiting_.resize(2 * waiting_.size() + 1024); }
  [[noreturn]] void fail() {
    failure_ = std::make_exception_ptr(not_the_same(circuit_));
    std::rethrow_exception(failure_);
  }

  const std::string& circuit_;
  const GateRecord& record_;
  GateSink& next_;
  GateHash hash_;
  std::uint64_t gates_ = 0;
  std::vector<Gate> waiting_;
  std::size_t waiting_count_ = 0;
  std::exception_ptr failure_;  // a function may catch it, and go on
};

}  // namespace

UsageError not_the_same(const std::string& circuit) {
  return UsageError(
      "circuit " + circuit +
      " is not the same each time it is generated, and nothing that depends on the difference has "
      "been sent; make what it is generated from constant: no random numbers, no time, no order of "
      "a set, no state that a call leaves behind, and no file that changes");
}

CheckedCircuit::CheckedCircuit(std::shared_ptr<const Circuit> circuit, GateRecord record)
    : circuit_(std::move(circuit)), info_(circuit_->info()), record_(std::move(record)) {}

void CheckedCircuit::generate(GateSink& sink) const {
  GateCheck check(info_.name, record_, sink);
  CanonicalStream<GateCheck> stream(info_, check);
  circuit_->generate(stream);
  check.finish(stream.finish());
}

}  // namespace tinyot::circuit
