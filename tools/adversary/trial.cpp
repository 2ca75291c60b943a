#include "tools/adversary/trial.h"

#include <thread>

#include "base/error.h"

namespace tinyot {
namespace {

// A party that ends stops its own sending; the honest one says so, as the commands do. The cheater leaves without a word.
Ending play(Scenario& scenario, Party me, Party cheater, std::unique_ptr<ByteStream> stream) {
  const auto channel = make_framed_channel(std::move(stream));
  try {
    scenario.run(me, *channel);
    channel->flush();
    return {};
  } catch (const PeerCheated& error) {
    if (me != cheater) channel->send_abort();
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

}  // namespace

Trial attempt(const ScenarioKind& kind, std::uint64_t seed, Party cheater, const Deviation* deviation, const Transcript* earlier) {
  const auto scenario = kind.make(seed);
  Trial trial;
  MemoryStreams streams = make_memory_streams();
  auto& deviating = cheater == Party::A ? streams.a : streams.b;
  auto& keeping = cheater == Party::A ? streams.b : streams.a;
  deviating = make_deviating_stream(std::move(deviating), deviation, earlier, trial.conduct);
  std::thread thread([&] { trial.cheater = play(*scenario, cheater, cheater, std::move(deviating)); });
  trial.honest = play(*scenario, peer_of(cheater), cheater, std::move(keeping));
  thread.join();
  try {
    trial.flaw = scenario->flaw(peer_of(cheater));
  } catch (const std::exception& error) {
    trial.flaw = error.what();
  }
  return trial;
}

}  // namespace tinyot
