#include "tools/selftest/adversary/trial.h"

#include <thread>

#include "base/error.h"

namespace tinyot::tools {

Ending ending_of(const std::function<void(net::Channel&)>& body,
                 std::unique_ptr<net::ByteStream> stream, bool tells) {
  const auto channel = net::make_framed_channel(std::move(stream));
  try {
    body(*channel);
    channel->flush();
    return {};
  } catch (const PeerCheated& error) {
    if (tells) channel->send_abort();
    return {Ending::Kind::Caught, error.check(), error.what()};
  } catch (const PeerAborted& error) {
    return {Ending::Kind::Told, {}, error.what()};
  } catch (const NetworkError& error) {
    return {Ending::Kind::Cut, {}, error.what()};
  } catch (const Disagreement& error) {
    return {Ending::Kind::Disagreed, {}, error.what()};
  } catch (const Error& error) {
    return {Ending::Kind::Refused, {}, error.what()};
  } catch (const std::exception& error) {
    return {Ending::Kind::Broken, {}, error.what()};
  }
}

Trial attempt(const ScenarioKind& kind, std::uint64_t seed, Party cheater,
              const Deviation* deviation, const Transcript* earlier) {
  const auto scenario = kind.make(seed);
  Trial trial;
  net::MemoryStreams streams = net::make_memory_streams();
  auto& deviating = cheater == Party::A ? streams.a : streams.b;
  auto& keeping = cheater == Party::A ? streams.b : streams.a;
  deviating = make_deviating_stream(std::move(deviating), deviation, earlier, trial.conduct);
  // The cheater leaves without an abort.
  const auto run_as = [&](Party party) {
    return [&, party](net::Channel& channel) { scenario->run(party, channel); };
  };
  std::thread thread([&] { trial.cheater = ending_of(run_as(cheater), std::move(deviating)); });
  trial.honest = ending_of(run_as(peer_of(cheater)), std::move(keeping), true);
  thread.join();
  try {
    trial.flaw = scenario->flaw(peer_of(cheater));
  } catch (const std::exception& error) {
    trial.flaw = error.what();
  }
  return trial;
}

}  // namespace tinyot::tools
