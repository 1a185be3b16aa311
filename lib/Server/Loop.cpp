//===- Loop.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Loop.h"

#include <algorithm>
#include <fcntl.h>
#include <poll.h>

using namespace autopar::server;

void autopar::server::makeNonBlocking(int descriptor) {
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

void Loop::add(std::unique_ptr<Watched> watched) {
  all.push_back(std::move(watched));
}

/// Returns the time until `first` in milliseconds, rounded up; -1 (for ever) if
/// there is none.
static int timeoutUntil(std::optional<TimePoint> first) {
  if (!first)
    return -1;
  auto left = std::chrono::ceil<std::chrono::milliseconds>(*first - now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60'000));
}

void Loop::step(std::optional<TimePoint> latest) {
  std::vector<pollfd> polled;
  std::optional<TimePoint> first = latest;
  for (const auto &one : all) {
    polled.push_back({one->descriptor(), one->events(), 0});
    if (auto deadline = one->deadline();
        deadline && (!first || *deadline < *first))
      first = deadline;
  }
  if (poll(polled.data(), polled.size(), timeoutUntil(first)) < 0)
    return;
  // Handlers may add entries, which have not been polled yet.
  for (size_t i = 0; i < polled.size(); ++i) {
    if (polled[i].revents && !all[i]->isOver())
      all[i]->ready(polled[i].revents);
    auto deadline = all[i]->deadline();
    if (!all[i]->isOver() && deadline && *deadline <= now())
      all[i]->expire();
  }
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const auto &one) { return one->isOver(); }),
            all.end());
}
