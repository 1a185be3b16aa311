//===- Documents.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Server/Documents.h"

#include "Bodies.h"

#include "autopar/Page/Page.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Json.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace autopar;
using namespace autopar::hub;
using namespace autopar::page;
using namespace autopar::pipelines;
using namespace autopar::schedule;
using namespace autopar::server;

static HttpResponse failed(const Error &error) {
  return Problem{500, error.str()}.response();
}

/// Returns the page's content security policy for the header of the response,
/// with a ban on embedding. Browsers get the header before they read the page.
static std::string policyOf(const std::string &html) {
  constexpr std::string_view begin =
      "http-equiv=\"Content-Security-Policy\" content=\"";
  size_t first = html.find(begin);
  if (first == html.npos)
    return "";
  first += begin.size();
  return html.substr(first, html.find('"', first) - first) +
         "; frame-ancestors 'none'";
}

static HttpResponse livePage() {
  Result<std::string> html = makePage(
      "autopar", PageMembers{{"live", "true"}},
      "The page asks the server by a script. GET /openapi.json says what it "
      "answers.");
  if (!html)
    return failed(html.error());
  return {200, "text/html; charset=utf-8", *html, {}, policyOf(*html)};
}

static HttpResponse file(const std::string &name) {
  Result<std::string> text =
      readFile(installedDirectory("server") + "/" + name);
  return text ? HttpResponse{200, "application/json", *text}
              : failed(text.error());
}

std::string autopar::server::withFlags(const JsonDocument &written) {
  nlohmann::json document = written.toJson();
  nlohmann::json &schemas = document["components"]["schemas"];
  PlanFlags flags;
  auto add = [&](const char *schema, const char *value,
                 bool (*takes)(const std::string &flag)) {
    nlohmann::json &properties = schemas[schema]["properties"];
    for (const PlanFlag &flag : flags.all())
      if (takes(flag.name) && !properties.contains(flag.name))
        properties[flag.name] = {
            {"description", flag.help},
            {"$ref", std::string("#/components/schemas/") + value}};
  };
  add("Flags", "FlagValue", isOfPlans);
  add("SweepFlags", "FlagValues", isOfPlans);
  add("SearchFlags", "FlagValues", isOfSearches);
  return document.dump(2);
}

static HttpResponse openapi() {
  Result<JsonDocument> read =
      JsonDocument::readFile(installedDirectory("server") + "/openapi.json");
  return read ? HttpResponse{200, "application/json", withFlags(*read)}
              : failed(read.error());
}

static HttpResponse schema(const std::string &id) {
  std::vector<std::string> names =
      listFiles(installedDirectory("server/schemas"), ".schema.json");
  if (std::find(names.begin(), names.end(), id) == names.end())
    return Problem{404, "no such schema"}.response();
  return file("schemas/" + id);
}

HttpResponse autopar::server::documentOf(const HttpRequest &request,
                                         const std::string &id) {
  if (request.path == "/")
    return livePage();
  if (request.path == "/openapi.json")
    return openapi();
  if (request.path == "/healthz")
    return {200, "application/json", "{\"status\": \"ok\"}"};
  return schema(id);
}
