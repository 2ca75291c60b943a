// Netlists that Yosys has not written, or should not have.
#include <gtest/gtest.h>

#include "base/error.h"
#include "circuitgen/cost.h"
#include "circuitgen/formats/verilog/netlist_circuit.h"

namespace tinyot::circuit {
namespace {

TEST(Netlist, IsRefusedIfItIsNone) {
  const auto read = [](const std::string& cells, const std::string& bits = "2") {
    const std::string text = R"({"modules":{"top":{"ports":{"y":{"direction":"output","bits":[)" +
                             bits + R"(]}},"netnames":{"y":{"attributes":{}}},"cells":{)" + cells +
                             "}}}}";
    Netlist netlist = read_netlist(Json::parse(text), "top", "design.v");
    DescribedPorts ports = describe_ports(netlist, {});
    const NetlistCircuit circuit(std::move(netlist), std::move(ports.info));
    return cost_of(circuit);
  };
  const auto memory = [](const std::string& parameters, const std::string& address) {
    return R"("m":{"type":"$mem_v2","attributes":{},"parameters":{"WR_PORTS":"0","SIZE":"10",)"
           R"("RD_CLK_ENABLE":"0","OFFSET":"0","INIT":"10",)" +
           parameters + R"(},"connections":{"RD_ADDR":[)" + address + R"(],"RD_DATA":[2]}})";
  };
  EXPECT_NO_THROW(read(memory(R"("RD_PORTS":"1","ABITS":"1","WIDTH":"1")", "\"0\"")));
  EXPECT_THROW(read(memory(R"("RD_PORTS":"1","ABITS":"10","WIDTH":"1")", "\"0\"")), UsageError);
  EXPECT_THROW(read(memory(R"("RD_PORTS":"1","ABITS":"1","WIDTH":"11")", "\"0\"")), UsageError);
  EXPECT_THROW(read(memory(R"("RD_PORTS":"0","ABITS":"1","WIDTH":"1")", "\"0\"")), UsageError);
  EXPECT_THROW(read(memory(R"("RD_PORTS":"10","ABITS":"1","WIDTH":"1")", "\"0\"")), UsageError);
  EXPECT_THROW(read(memory(R"("ABITS":"1","WIDTH":"1")", "\"0\"")), UsageError);
  const auto choice = [](const std::string& b) {
    return R"("p":{"type":"$pmux","attributes":{},"parameters":{},"connections":{"A":["0"],"B":[)" +
           b + R"(],"S":["1"],"Y":[2]}})";
  };
  EXPECT_NO_THROW(read(choice("\"1\"")));
  EXPECT_THROW(read(choice("")), UsageError);
  for (const char* bits : {"-2", "2.5", "1e300", "null", "[2]"})
    EXPECT_THROW(read(choice("\"1\""), bits), UsageError) << bits;
  EXPECT_NO_THROW(read(memory(R"("RD_PORTS":"1","ABITS":"1","WIDTH":"1")", "\"0\""), "2,2"));
  EXPECT_THROW(read(R"("\u001b":{"type":"$_BUF_","attributes":{},"parameters":{},)"
                    R"("connections":{"A":["0"],"Y":[2]}})"),
               UsageError);
  std::string zeros = "\"0\"";
  for (int i = 1; i < 9000; ++i) zeros += ",\"0\"";
  EXPECT_THROW(read(R"("m":{"type":"$mul","attributes":{},"parameters":{"A_SIGNED":"0",)"
                    R"("B_SIGNED":"0"},"connections":{"A":[)" +
                    zeros + R"(],"B":[)" + zeros + R"(],"Y":[2]}})"),
               UsageError);
  const std::string far = "18446744073709551615";
  EXPECT_NO_THROW(read(
      R"("n":{"type":"$_BUF_","attributes":{},"parameters":{},"connections":{"A":["0"],"Y":[)" +
          far + "]}}",
      far));
}

}  // namespace
}  // namespace tinyot::circuit
