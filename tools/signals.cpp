#include "tools/signals.h"

#include <signal.h>

namespace tinyot::tools {
namespace {

volatile sig_atomic_t received_signal = 0;

void note_signal(int signal) { received_signal = signal; }

void install(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

// SA_RESETHAND restores the default action, which a second signal then meets.
StopSignals::StopSignals() { install(note_signal, static_cast<int>(SA_RESTART | SA_RESETHAND)); }

StopSignals::~StopSignals() { install(SIG_DFL, 0); }

int StopSignals::received() { return received_signal; }

}  // namespace tinyot::tools
