//===- ServeCommand.cpp - autopar over HTTP -------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Commands.h"
#include "Errors.h"

#include "autopar/Server/Server.h"
#include "autopar/Support/File.h"

#include <cstdio>
#include <spawn.h>

using namespace autopar;

extern char **environ;

namespace {
struct Options {
  server::ServerOptions server;
  bool opens = false;
};
} // namespace

/// Opens `address` in a browser, if there is one.
static void open(const std::string &address) {
#ifdef __APPLE__
  std::string program = "open";
#else
  std::string program = "xdg-open";
#endif
  std::string argument = address;
  char *arguments[] = {program.data(), argument.data(), nullptr};
  pid_t process = 0;
  if (posix_spawnp(&process, program.c_str(), nullptr, nullptr, arguments,
                   environ) != 0)
    std::fprintf(stderr, "warning: there is no %s: open the page by hand\n",
                 program.c_str());
}

static int serve(const Options &options) {
  Result<std::unique_ptr<server::Server>> opened =
      server::Server::open(options.server);
  if (!opened)
    return printError(opened.error());
  std::string address = (*opened)->address();
  std::printf("autopar is at %s (Ctrl-C ends it)\n", address.c_str());
  if (Result<bool> arrived = flushOutput(); !arrived)
    return printError(arrived.error());
  const std::string &token = options.server.token;
  if (options.opens)
    open(token.empty() ? address : address + "?token=" + token);
  (*opened)->run();
  return 0;
}

/// Checks that headers and addresses can contain the token unescaped. Returns
/// the error; "" if there is none.
static std::string checkToken(const std::string &token) {
  bool good = token.size() >= 16 && token.size() <= 256 &&
              token.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789-_") == token.npos;
  return good ? ""
              : "expected 16 to 256 letters, digits, - and _, as "
                "'openssl rand -hex 16' prints them";
}

void autopar::addServe(CLI::App &app, std::vector<Command> &commands) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "serve",
      "Serve the same answers as a web page and over HTTP, on this machine");
  command
      ->add_option("--port", options->server.port,
                   "Port (default: 8080); 0 takes any free one")
      ->type_name("N")
      ->transform(inRange(0, 65'535));
  command
      ->add_option("--host", options->server.host,
                   "Address (default: 127.0.0.1, which only this machine "
                   "reaches); others need --token")
      ->type_name("address");
  command
      ->add_option("--token", options->server.token,
                   "Secret that each request must send in a header "
                   "Authorization: Bearer; a browser opens /?token=... once")
      ->type_name("text")
      ->envname("AUTOPAR_TOKEN")
      ->check(CLI::Validator([](std::string &text) { return checkToken(text); },
                             ""));
  command->add_flag("--open", options->opens, "Open the page in a browser");
  command->footer(
      "GET /openapi.json says what it answers. Nothing is fetched and no file\n"
      "is opened for a request: models and machines go by the names that\n"
      "'autopar models list' and 'autopar hardware list' have, or come in the\n"
      "body.\n\n"
      "  autopar serve --open\n"
      "  curl -s localhost:8080/estimate -H 'Content-Type: application/json' "
      "\\\n"
      "       -d '{\"model\": \"llama-3.3-70b\", \"flags\": {\"shard-tp\": "
      "8}}'\n"
      "  autopar serve --host=0.0.0.0 --token=$(openssl rand -hex 16)\n");
  commands.push_back({command, [=] { return serve(*options); }});
}
