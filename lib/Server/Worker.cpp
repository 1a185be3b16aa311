//===- Worker.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Worker.h"

#include "Channel.h"
#include "autopar/Server/Api.h"
#include "autopar/Support/File.h"

#include "llvm/Support/ErrorHandling.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

using namespace autopar;
using namespace autopar::server;

#if defined(__SANITIZE_ADDRESS__)
#define AUTOPAR_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define AUTOPAR_SANITIZED
#endif
#endif

static volatile std::sig_atomic_t isStopped = 0;

extern "C" void stopWork(int) { isStopped = 1; }

static void limitMemory(const ServerLimits &limits) {
  std::set_new_handler([] { _exit(outOfMemoryCode); });
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { _exit(outOfMemoryCode); });
#ifndef AUTOPAR_SANITIZED
  // The limit is not set with sanitizers, which use terabytes of addresses.
  rlimit addresses = {limits.workerBytes, limits.workerBytes};
  setrlimit(RLIMIT_AS, &addresses);
#endif
}

/// Confines a worker: it writes no files, and ends when its parent ends.
static void confine(const ServerLimits &limits) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  // Ctrl-C is for the server, which then ends its workers.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(stopSignal, stopWork);
  std::error_code error;
  if (const char *data = std::getenv("AUTOPAR_DATA"))
    setenv("AUTOPAR_DATA",
           std::filesystem::absolute(data, error).string().c_str(), 1);
  // The worker changes its directory, because names of models must not match
  // folders there.
  std::filesystem::current_path("/", error);
  rlimit nothing = {0, 0};
  setrlimit(RLIMIT_FSIZE, &nothing);
  setrlimit(RLIMIT_CORE, &nothing);
  confineFiles();
  limitMemory(limits);
}

static bool send(int descriptor, const std::string &bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    ssize_t count =
        ::write(descriptor, bytes.data() + sent, bytes.size() - sent);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    sent += static_cast<size_t>(count);
  }
  return true;
}

static std::optional<Message> receive(int descriptor, std::string &bytes) {
  char buffer[1 << 16];
  while (true) {
    if (std::optional<Message> message = readMessage(bytes))
      return message;
    ssize_t count = ::read(descriptor, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return std::nullopt;
    bytes.append(buffer, static_cast<size_t>(count));
  }
}

/// Returns the resident bytes of this process; 0 if the system does not tell
/// them.
static uint64_t residentBytes() {
  uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Returns a function that reports progress to the server ten times a second,
/// if somebody reads it.
static Progress progressTo(int descriptor, bool isRead) {
  auto last = std::make_shared<std::chrono::steady_clock::time_point>();
  return [=](std::string_view what, size_t done, size_t all) {
    auto time = std::chrono::steady_clock::now();
    if (isRead && time - *last > std::chrono::milliseconds(100)) {
      *last = time;
      send(descriptor, writeProgress(what, done, all));
    }
    return !isStopped;
  };
}

void autopar::server::runWorker(int descriptor, const ServerLimits &limits) {
  confine(limits);
  Api api(limits);
  std::string bytes;
  bool isLast = false;
  for (size_t count = 1; !isLast; ++count) {
    std::optional<Message> message = receive(descriptor, bytes);
    if (!message)
      break;
    isStopped = 0;
    HttpRequest request = requestOf(std::move(*message));
    HttpResponse response =
        api.answer(request, progressTo(descriptor, request.wantsEvents()));
    isLast =
        count == limits.renewRequests || residentBytes() > limits.renewBytes;
    if (!send(descriptor, write(response, isLast)))
      break;
  }
  // `_exit` ends the process without the destructors of the server from which
  // it was forked.
  _exit(0);
}
