// A circuit whose outputs all go to one party, except those that stay shared.
#pragma once

#include <memory>
#include <utility>

#include "tinyot/circuit/gate.h"

namespace tinyot::circuit {

class CircuitForReceiver final : public Circuit {
 public:
  CircuitForReceiver(std::shared_ptr<const Circuit> circuit, Receiver receiver)
      : circuit_(std::move(circuit)), info_(circuit_->info()) {
    for (OutputBundle& output : info_.outputs)
      if (output.to != Receiver::None) output.to = receiver;
  }

  const CircuitInfo& info() const override { return info_; }
  void generate(GateSink& sink) const override { circuit_->generate(sink); }

 private:
  std::shared_ptr<const Circuit> circuit_;
  CircuitInfo info_;
};

}  // namespace tinyot::circuit
