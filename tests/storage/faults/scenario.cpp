#include "tests/storage/faults/scenario.h"

#include <algorithm>
#include <cstdio>

#include "storage/record.h"
#include "tests/support/layers.h"

namespace tinyot::faults {

MaterialCounts unit_counts(std::size_t unit) {
  MaterialCounts counts;
  counts[kAnds] = 200;
  counts[kBits] = unit == 1 ? material::full_batch(kBits) + 50 : 300;
  return counts;
}

void Ledger::report(const std::string& text) {
  if (violation[0] == '\0') std::snprintf(violation, sizeof violation, "%s", text.c_str());
}

void Ledger::draw(Reservation& reservation) {
  for (const MaterialKind kind : {kAnds, kBits}) {
    const std::uint64_t first = reservation.start()[kind], count = reservation.counts()[kind];
    if (count == 0) continue;
    const auto right = draws(reservation, kind, Party::A, first, count);
    if (!right) report(right.message());
    for (std::uint64_t i = first; i < first + count; ++i)
      if (++served[kind == kBits][i] > 1)
        report(std::string(name_of(kind)) + " " + std::to_string(i) + " is served twice");
  }
}

void pour_unit(Store& store) {
  const MaterialCounts counts = unit_counts(store.manifest().units_made);
  for (const MaterialKind kind : {kAnds, kBits})
    store.pour(test_batch(kind, Party::A, store.made()[kind], counts[kind]));
}

Scenario::Scenario(std::filesystem::path dir, Ledger& ledger, std::function<void()> when_failed)
    : dir_(std::move(dir)), ledger_(ledger), when_failed_(std::move(when_failed)) {
  make();
  add_units();
  reserve_and_draw();
  take_out_of_order();
  plan_and_claim();
  end();
}

void Scenario::make() {
  steps_.push_back([this] {
    if (std::filesystem::exists(dir_ / "material.mdb"))
      store_ = open_to_make(dir_);
    else
      store_ = make_store(dir_);
    ledger_.is_made = true;
  });
}

void Scenario::begin_unit() {
  steps_.push_back([this, number = units_begun_++] {
    attempt_ = std::uint64_t{1} << ledger_.tries++;
    store_->begin_unit({number, {200, 4}, {{attempt_, 0, 0}}});
    ledger_.begun |= attempt_;
  });
}

void Scenario::end_unit(const std::function<void()>& body) {
  steps_.push_back([=, this] {
    ledger_.ending |= attempt_;
    body();
    ledger_.ended |= attempt_;
  });
}

void Scenario::add_units() {
  const auto unlock = [this](std::uint64_t first, std::uint64_t end) {
    steps_.push_back([=, this] {
      store_->unlock(first, end, store_->halves(first, end));
      ledger_.units_unlocked = end;
    });
  };
  const auto add = [this] {
    begin_unit();
    steps_.push_back([this] {
      pour_unit(*store_);
      if (store_->manifest().units_made > 0) return;
      for (const MaterialKind kind : {MaterialKind::AuthBitsA, MaterialKind::AuthBitsB})
        store_->add_reference_bits(test_batch(kind, store_->manifest().me, 0, 128));
    });
    end_unit([this] {
      store_->finish_unit();
      ledger_.units = store_->manifest().units_made;
    });
  };
  add();
  steps_.push_back([this] {
    ledger_.units = 0;
    store_->cut_back(0);
  });
  add();
  add();
  unlock(0, 2);
  add();
  steps_.push_back([this] {
    ledger_.units = 2;
    store_->cut_back(2);
  });
  add();
  unlock(2, 3);
  begin_unit();
  end_unit([this, number = units_begun_ - 1] { store_->withdraw_unit(number); });
  begin_unit();  // broken off
}

void Scenario::use(const std::function<Grant()>& range) {
  steps_.push_back([this, range] {
    grant_ = range();
    ledger_.position = store_->served();
  });
  steps_.push_back([this] { reservation_ = store_->hold(grant_); });
  steps_.push_back([this] { ledger_.draw(*reservation_); });
  steps_.push_back([this] { reservation_->finish(); });
}

void Scenario::reserve_and_draw() {
  MaterialCounts counts;
  counts[kAnds] = 130;
  counts[kBits] = 600;
  use([=, this] { return store_->grant({.counts = counts, .at_least = {}}); });
  counts[kBits] = 0;
  counts[kAnds] = 20;
  use([=, this] {
    MaterialCounts higher = store_->served();
    higher[kAnds] += 10;
    return store_->grant({.counts = counts, .at_least = higher});
  });
}

void Scenario::take_out_of_order() {
  use([this] {
    Range range{store_->served(), store_->served()};
    range.start[kAnds] += 20;
    range.end[kAnds] += 50;
    gap_ = {store_->served(), range.start};
    return store_->take({range, 0, {}}, {});
  });
  use([this] { return store_->take({gap_, 0, {}}, {}); });
}

void Scenario::plan_and_claim() {
  steps_.push_back([this] {
    MaterialCounts counts;
    counts[kAnds] = 30;
    counts[kBits] = 1000;
    ledger_.plan = store_->grant({.counts = counts, .at_least = {}, .is_plan = true}).plan;
    ledger_.position = store_->served();
  });
  steps_.push_back([this] {
    reservation_.reset();
    store_.reset();
    store_ = open_to_make(dir_);
  });
  steps_.push_back([this] {
    ledger_.claim_begun = true;
    reservation_ = store_->claim(ledger_.plan);
  });
  steps_.push_back([this] { ledger_.draw(*reservation_); });
  steps_.push_back([this] { reservation_.reset(); });
}

void Scenario::end() {
  steps_.push_back([this] {
    store_->update_manifest([](Manifest& manifest) { manifest.state = StoreState::Complete; });
  });
  steps_.push_back([this] {
    ledger_.revocation_begun = true;
    store_->revoke("for a test");
    ledger_.is_revoked = true;
  });
}

bool Scenario::step(const std::function<void()>& body) {
  try {
    body();
    return true;
  } catch (const StoreError&) {
    ++ledger_.errors;
  } catch (const Disagreement& error) {
    // Expected if a step is repeated that took effect although it reported an error.
    if (ledger_.errors == 0) ledger_.report(error.what());
  } catch (const std::exception& error) {
    ledger_.report(std::string("not a StoreError: ") + error.what());
  }
  return false;
}

bool Scenario::run() {
  for (const auto& body : steps_) {
    if (step(body)) continue;
    when_failed_();
    if (!step(body)) return false;
  }
  return true;
}

}  // namespace tinyot::faults
