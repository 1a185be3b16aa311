//===- Listen.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Listen.h"

#include "Loop.h"
#include "autopar/Support/Text.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace autopar;
using namespace autopar::server;

static bool isLoopback(const sockaddr *address) {
  if (address->sa_family == AF_INET) {
    auto *four = reinterpret_cast<const sockaddr_in *>(address);
    return ntohl(four->sin_addr.s_addr) >> 24 == 127;
  }
  auto *six = reinterpret_cast<const sockaddr_in6 *>(address);
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

static uint16_t portOf(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  getsockname(socket, reinterpret_cast<sockaddr *>(&address), &size);
  // The port is at the same place in IPv4 and IPv6 addresses.
  return ntohs(reinterpret_cast<const sockaddr_in *>(&address)->sin_port);
}

static Result<ListeningSocket> listenAt(const addrinfo &address,
                                        const std::string &name) {
  int descriptor = socket(address.ai_family, SOCK_STREAM, 0);
  int yes = 1;
  if (descriptor >= 0)
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (descriptor < 0 ||
      bind(descriptor, address.ai_addr, address.ai_addrlen) != 0 ||
      listen(descriptor, SOMAXCONN) != 0) {
    Error error{name, std::string("cannot listen: ") + std::strerror(errno),
                errno == EADDRINUSE
                    ? "another program has the port: give another --port, or 0 "
                      "for any"
                    : ""};
    if (descriptor >= 0)
      close(descriptor);
    return error;
  }
  makeNonBlocking(descriptor);
  return ListeningSocket{descriptor, portOf(descriptor),
                         isLoopback(address.ai_addr)};
}

Result<ListeningSocket> autopar::server::listenAt(const std::string &host,
                                                  uint16_t port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo *found = nullptr;
  std::string name = shorten(host) + ":" + std::to_string(port);
  if (int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints,
                             &found))
    return Error{name, std::string("no such address: ") + gai_strerror(code),
                 "--host=127.0.0.1 is this machine alone, --host=0.0.0.0 all "
                 "of its addresses"};
  Result<ListeningSocket> socket = ::listenAt(*found, name);
  freeaddrinfo(found);
  return socket;
}
