#include "tools/cli/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "tools/cli/failure.h"

namespace tinyot::tools {
namespace {

volatile sig_atomic_t received_signal = 0;
volatile sig_atomic_t wake_descriptor = -1;

void note_signal(int signal) {
  const int error = errno;
  received_signal = signal;
  const char byte = 1;
  // The pipe is empty, so this cannot fail.
  (void)!::write(wake_descriptor, &byte, 1);
  errno = error;
}

volatile sig_atomic_t is_reload_asked = 0;

void note_reload(int) { is_reload_asked = 1; }

volatile sig_atomic_t noted_signal = 0;
volatile sig_atomic_t is_from_process = 0;  // and not from the terminal

void note_with_origin(int signal, siginfo_t* info, void*) {
  noted_signal = signal;
  is_from_process = info->si_code == SI_USER || info->si_code == SI_TKILL ? 1 : 0;
}

// SIGHUP, when a terminal is closed, stops a job as well, unless it is ignored (nohup).
void install(const struct sigaction& action) {
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (signal != SIGHUP || hangup.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
}

void install(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  install(action);
}

}  // namespace

StopSignals::StopSignals(std::stop_source cancel) {
  wake_descriptor = pipe_.write_end.get();
  waiter_ = std::thread([this, cancel = std::move(cancel)]() mutable {
    char byte = 0;
    while (::read(pipe_.read_end.get(), &byte, 1) < 0 && errno == EINTR) continue;
    if (byte != 0) cancel.request_stop();
  });
  // SA_RESETHAND restores the default action for a second signal.
  install(note_signal, static_cast<int>(SA_RESTART | SA_RESETHAND));
}

StopSignals::~StopSignals() {
  install(SIG_DFL, 0);
  wake_descriptor = -1;
  const char byte = 0;
  (void)!::write(pipe_.write_end.get(), &byte, 1);
  waiter_.join();
}

int StopSignals::received() { return received_signal; }

ReloadSignal::ReloadSignal() {
  struct sigaction action {};
  action.sa_handler = note_reload;
  action.sa_flags = SA_RESTART;
  sigaction(SIGHUP, &action, nullptr);
}

ReloadSignal::~ReloadSignal() { ::signal(SIGHUP, SIG_IGN); }

bool ReloadSignal::take() {
  if (is_reload_asked == 0) return false;
  is_reload_asked = 0;
  return true;
}

DeferredSignals::DeferredSignals() {
  noted_signal = 0;
  struct sigaction action {};
  action.sa_sigaction = note_with_origin;
  action.sa_flags = SA_SIGINFO;
  install(action);
}

DeferredSignals::~DeferredSignals() {
  install(SIG_DFL, 0);
  noted_signal = 0;
}

int DeferredSignals::received() { return noted_signal; }

void DeferredSignals::pass_on(pid_t child) {
  if (noted_signal != 0 && is_from_process != 0) ::kill(child, noted_signal);
}

}  // namespace tinyot::tools
