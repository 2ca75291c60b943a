// The metrics of a store, for commands and for the daemon.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "storage/inventory.h"

namespace tinyot::service {

using MetricLabels = std::map<std::string, std::string>;
using SetGauge = std::function<void(const std::string& name, const std::string& help,
                                    const MetricLabels& labels, double value)>;

// `more` are labels in addition to the store's own.
void add_store_metrics(const storage::Inventory& store, const MetricLabels& more,
                       const SetGauge& set);

}  // namespace tinyot::service
