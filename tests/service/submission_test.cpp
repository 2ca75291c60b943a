#include "service/submission.h"

#include <gtest/gtest.h>

#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

using service::Submission;

v1::SubmitRequest job(const std::string& circuit, std::uint64_t lanes = 1) {
  v1::SubmitRequest request;
  request.mutable_job()->set_id("id");
  request.mutable_job()->set_circuit(circuit);
  request.mutable_job()->set_lanes(lanes);
  return request;
}

v1::SubmitRequest bits(const std::string& name, const std::string& value) {
  v1::SubmitRequest request;
  request.add_inputs()->set_name(name);
  request.mutable_inputs(0)->set_bits(value);
  return request;
}

std::string error_of(const std::vector<v1::SubmitRequest>& parts, Party me = Party::A,
                     std::uint64_t bytes_max = 1000) {
  try {
    Submission submission(bytes_max);
    for (const v1::SubmitRequest& part : parts) submission.add(part);
    const auto circuit = submission.circuit();
    submission.inputs(circuit, me);
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

TEST(SubmissionTest, PartsOfAnInputAreJoined) {
  Submission submission(1000);
  submission.add(job("millionaires", 2));
  submission.add(bits("a", std::string("\x01\x02\x03\x04\x05", 5)));
  submission.add(bits("a", std::string("\x06\x07\x08", 3)));
  const auto circuit = submission.circuit();
  const auto values = submission.inputs(circuit, Party::A);
  ASSERT_EQ(values[0]->size(), 2u);
  EXPECT_EQ((*values[0])[0].words()[0], 0x04030201u);
  EXPECT_EQ((*values[0])[1].words()[0], 0x08070605u);
  EXPECT_FALSE(values[1]);
}

TEST(SubmissionTest, RefusesWhatDoesNotFit) {
  const std::string four(4, '\0');
  EXPECT_EQ(error_of({job("millionaires"), bits("a", four)}), "");
  EXPECT_NE(error_of({bits("a", four)}).find("first message"), std::string::npos);
  EXPECT_NE(error_of({job("millionaires"), job("millionaires")}).find("first message"),
            std::string::npos);
  EXPECT_NE(error_of({job("millionaires"), bits("a", "\1")}).find("1 bytes given, 4 expected"),
            std::string::npos);
  EXPECT_NE(error_of({job("millionaires"), bits("a", four), bits("x", four)}).find("no input 'x'"),
            std::string::npos);
  EXPECT_NE(error_of({job("millionaires"), bits("a", four)}, Party::B).find("does not belong"),
            std::string::npos);
  EXPECT_NE(error_of({job("millionaires")}).find("missing"), std::string::npos);
  EXPECT_NE(error_of({job("millionaires", std::uint64_t{1} << 40), bits("a", four)}).find("lanes"),
            std::string::npos);
  EXPECT_NE(error_of({job("millionaires"), bits("a", std::string(2000, '\0'))}).find("larger"),
            std::string::npos);
  EXPECT_NE(error_of({job("millionaires:bits=3"), bits("a", "\x08")}).find("beyond"),
            std::string::npos);
  v1::SubmitRequest both = bits("a", four);
  both.mutable_inputs(0)->add_numbers("1");
  EXPECT_NE(error_of({job("millionaires"), both}).find("as bits and as numbers"),
            std::string::npos);
  v1::SubmitRequest file = job("name");
  file.mutable_job()->set_is_file(true);
  file.set_circuit_part("not a circuit");
  EXPECT_NE(error_of({file}), "");
  v1::SubmitRequest roles = job("millionaires");
  (*roles.mutable_job()->mutable_roles()->mutable_owners())[0] = "B";
  EXPECT_NE(error_of({roles, bits("a", four)}).find("its own"), std::string::npos);
}

}  // namespace
}  // namespace tinyot::test
