// A sink that keeps what is poured into it for comparison, and passes it on.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "material/material.h"
#include "tests/support/layers.h"

namespace tinyot::test {

class KeptMaterial final : public material::Sink {
 public:
  explicit KeptMaterial(material::Sink& sink) : sink_(sink) {}

  Risk outstanding() const override { return sink_.outstanding(); }
  void begin_unit(const material::BegunUnit& unit) override { sink_.begin_unit(unit); }
  void withdraw_unit(std::uint64_t number) override { sink_.withdraw_unit(number); }
  void pour(material::Batch batch) override;
  void add_reference_bits(material::Batch batch) override;
  void finish_unit() override { sink_.finish_unit(); }

  // By kind: how many objects, a digest of all of them, and the first ones in full, column by
  // column (tinyot/material.h): mine, then the peer's, then shared ones.
  nlohmann::ordered_json described() const;

 private:
  // A column in the order in which its objects were poured.
  struct Column {
    const char* role;  // "mine", "peers" or "shares"
    std::vector<bool> bits;
    std::vector<std::byte> blocks;
  };
  void keep(const std::string& name, const material::Batch& batch);

  material::Sink& sink_;
  std::map<std::string, std::vector<Column>> kept_;
};

}  // namespace tinyot::test
