// The metrics of a command and of a store: every number under its own name and labels.
#include "service/metrics.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "engine/plan.h"
#include "service/store_metrics.h"
#include "tinyot/material.h"

namespace tinyot::test {
namespace {

TEST(CommandMetrics, AreThoseOfTheRecord) {
  service::CommandRecord record{.command = "run",
                                .exit_status = 4,
                                .end_s = 100,
                                .duration_s = 7,
                                .ands = 11,
                                .bytes_sent = 13,
                                .bytes_received = 17};
  const auto expect = [](const std::string& text, const std::string& name, int value) {
    const std::string line =
        "\ntinyot_command_" + name + "{command=\"run\"} " + std::to_string(value) + "\n";
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  };
  const std::string failed = service::metrics_text(record, {}, "7.8");
  expect(failed, "exit_status", 4);
  expect(failed, "end_timestamp_seconds", 100);
  expect(failed, "duration_seconds", 7);
  expect(failed, "ands", 11);
  expect(failed, "sent_bytes", 13);
  expect(failed, "received_bytes", 17);
  expect(failed, "success_timestamp_seconds", 0);
  EXPECT_NE(failed.find("tinyot_build_info{version=\"7.8\"} 1\n"), std::string::npos) << failed;
  // The last success is that of this command.
  record.exit_status = 0;
  const std::string done = service::metrics_text(record, {}, "7.8", failed);
  expect(done, "success_timestamp_seconds", 100);
  record.exit_status = 3;
  record.end_s = 200;
  expect(service::metrics_text(record, {}, "7.8", done), "success_timestamp_seconds", 100);
  service::CommandRecord other = record;
  other.command = "preprocess";
  EXPECT_NE(service::metrics_text(other, {}, "7.8", done)
                .find("success_timestamp_seconds{command=\"preprocess\"} 0\n"),
            std::string::npos);
}

TEST(StoreMetrics, AreThoseOfTheInventory) {
  PreprocessRequest job;
  job.parameters.profile = Profile::Fast;
  job.parameters.material = AndMaterial::Triples;
  job.ands = 1 << 13;
  job.parameters.unit = 1 << 11;
  job.shard = 2;
  job.shards = 3;
  const engine::JobPlan plan(engine::resolve(job));
  storage::Inventory store;
  store.manifest = plan.security;
  store.manifest.me = Party::B;
  store.manifest.state = StoreState::Complete;
  store.manifest.shard = 2;
  store.manifest.shards = 3;
  KindCounts& triples = store.kinds[static_cast<std::size_t>(MaterialKind::Triples)];
  triples = {.made = 100, .unconfirmed = 2, .spent = 60, .planned = 7, .burnt = 5, .left = 40};
  store.attempts.outstanding = 9;
  store.attempts.risk = plan.params.risk_limit();
  store.store_bytes = 1234;
  std::map<std::string, double> found;
  service::add_store_metrics(store, {{"peer", "bob"}},
                             [&](const std::string& name, const std::string&,
                                 const service::MetricLabels& labels, double value) {
                               EXPECT_EQ(labels.at("party"), "B");
                               EXPECT_EQ(labels.at("shard"), "2");
                               EXPECT_EQ(labels.at("peer"), "bob");
                               const auto state = labels.find("state");
                               if (state == labels.end())
                                 found[name] = value;
                               else
                                 found[name + " " + labels.at("kind") + " " + state->second] =
                                     value;
                             });
  const std::string objects = "tinyot_store_objects " + std::string(name_of(MaterialKind::Triples));
  const std::map<std::string, double> expected = {{"tinyot_store_complete", 1},
                                                  {"tinyot_store_revoked", 0},
                                                  {"tinyot_store_bytes", 1234},
                                                  {"tinyot_store_units_outstanding", 9},
                                                  {"tinyot_store_budget_spent_ratio", 1},
                                                  {"tinyot_store_ands_left", 40},
                                                  {"tinyot_store_inputs_left", 0},
                                                  {objects + " made", 100},
                                                  {objects + " left", 40},
                                                  {objects + " reserved", 7},
                                                  {objects + " burnt", 5},
                                                  {objects + " unconfirmed", 2}};
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace tinyot::test
