//===- Http.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Http.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <thread>

using namespace autopar;
using namespace autopar::hub;
using Clock = std::chrono::steady_clock;

constexpr unsigned maxTries = 3;
constexpr unsigned maxRedirects = 5;
constexpr Milliseconds connectTime{10'000};
constexpr Milliseconds firstWait{500};
constexpr Milliseconds quietTime{1'000};
/// A transfer of fewer bytes per second than this, for this many seconds,
/// counts as broken.
constexpr long lowSpeedBytes = 16, lowSpeedSeconds = 20;

static Milliseconds since(Clock::time_point start) {
  return std::chrono::duration_cast<Milliseconds>(Clock::now() - start);
}

static std::string seconds(Milliseconds time) {
  return formatNumber(std::chrono::duration<double>(time).count()) + " s";
}

/// Returns an address as it may be shown: without its query, which may contain
/// signatures.
static std::string shown(const std::string &url) {
  return url.substr(0, url.find_first_of("?#"));
}

/// One request, its answer, and its state.
struct HttpClient::Transfer {
  std::string url;
  const HttpRequest *request = nullptr;
  const ProgressCallback *progress = nullptr;
  Clock::time_point start = Clock::now(), lastProgress = start;
  bool tooLarge = false;

  HttpAnswer answer;
  std::string redirect;
  std::optional<Error> error;
  /// Whether the error may be temporary, and how long the server asks to wait.
  bool mayPass = false;
  Milliseconds retryAfter{};

  static size_t write(char *data, size_t, size_t count, Transfer *transfer);
  static size_t header(char *data, size_t, size_t count, Transfer *transfer);
  static int report(Transfer *transfer, curl_off_t total, curl_off_t now,
                    curl_off_t, curl_off_t);
  Transfer &fail(std::string message, std::string note) {
    error = Error{shown(url), std::move(message), std::move(note)};
    return *this;
  }
};

size_t HttpClient::Transfer::write(char *data, size_t, size_t count,
                                   Transfer *transfer) {
  std::string &body = transfer->answer.body;
  transfer->tooLarge = count > transfer->request->maxBytes - body.size();
  if (transfer->tooLarge)
    return 0;
  body.append(data, count);
  return count;
}

/// If `line` is the header `name` (in lower case), sets `value` to its value.
static void takeHeader(std::string_view line, std::string_view name,
                       std::string &value) {
  if (line.size() <= name.size() || line[name.size()] != ':' ||
      !std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) {
        return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b);
      }))
    return;
  line.remove_prefix(name.size() + 1);
  size_t first = line.find_first_not_of(" \t\r\n");
  size_t last = line.find_last_not_of(" \t\r\n");
  value = first == line.npos ? "" : line.substr(first, last - first + 1);
}

size_t HttpClient::Transfer::header(char *data, size_t, size_t count,
                                    Transfer *transfer) {
  std::string_view line(data, count);
  takeHeader(line, "x-repo-commit", transfer->answer.commit);
  takeHeader(line, "content-range", transfer->answer.contentRange);
  return count;
}

int HttpClient::Transfer::report(Transfer *transfer, curl_off_t total,
                                 curl_off_t now, curl_off_t, curl_off_t) {
  if (since(transfer->start) < quietTime ||
      since(transfer->lastProgress) < quietTime / 4)
    return 0;
  transfer->lastProgress = Clock::now();
  std::string line = shown(transfer->url) + ": " + formatBytes(int64_t(now));
  if (total > 0)
    line += " of " + formatBytes(int64_t(total));
  (*transfer->progress)(line);
  return 0;
}

HttpClient::HttpClient(const CurlApi &curl, HttpSettings settings)
    : curl(&curl), config(std::move(settings)),
      handle(curl.easyInit(), Closer{curl.easyCleanup}) {}

Result<HttpClient> HttpClient::open(HttpSettings settings) {
  Result<const CurlApi *> curl = loadCurl();
  if (!curl)
    return curl.error();
  HttpClient client(**curl, std::move(settings));
  if (!client.handle)
    return Error{"", "libcurl cannot start a transfer", ""};
  Result<std::string> origin = client.originOf(client.config.endpoint);
  if (!origin)
    return Error{"HF_ENDPOINT", origin.error().message, ""};
  client.endpointOrigin = *origin;
  return client;
}

/// Returns the origin "https://host:port" of an address that may be requested.
Result<std::string> HttpClient::originOf(const std::string &url) const {
  CURLU *parsed = curl->url();
  auto part = [&](CURLUPart what) {
    char *text = nullptr;
    std::string value;
    if (curl->urlGet(parsed, what, &text, CURLU_DEFAULT_PORT) == CURLUE_OK)
      value = text;
    curl->free(text);
    return value;
  };
  bool valid = curl->urlSet(parsed, CURLUPART_URL, url.c_str(), 0) == CURLUE_OK;
  std::string scheme = part(CURLUPART_SCHEME), host = part(CURLUPART_HOST);
  std::string origin = scheme + "://" + host + ":" + part(CURLUPART_PORT);
  bool named = !(part(CURLUPART_USER) + part(CURLUPART_PASSWORD)).empty();
  curl->urlCleanup(parsed);
  if (!valid || scheme != "https" || host.empty())
    return Error{shown(url), "not an https:// address", ""};
  if (named)
    return Error{origin, "an address with a user name or password", ""};
  std::transform(origin.begin(), origin.end(), origin.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return origin;
}

void HttpClient::configure(Transfer &transfer, Milliseconds left) {
  auto set = [&](CURLoption option, auto value) {
    curl->setOption(handle.get(), option, value);
  };
  curl->easyReset(handle.get());
  set(CURLOPT_URL, transfer.url.c_str());
  set(CURLOPT_USERAGENT, "autopar");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_SSLVERSION, long(CURL_SSLVERSION_TLSv1_2));
  if (!config.certificates.empty())
    set(CURLOPT_CAINFO, config.certificates.c_str());
  if (!transfer.request->range.empty())
    set(CURLOPT_RANGE, transfer.request->range.c_str());
  set(CURLOPT_CONNECTTIMEOUT_MS, long(std::min(connectTime, left).count()));
  set(CURLOPT_TIMEOUT_MS, long(left.count()));
  set(CURLOPT_LOW_SPEED_LIMIT, lowSpeedBytes);
  set(CURLOPT_LOW_SPEED_TIME, lowSpeedSeconds);
  // Answers that declare a too large size are refused early, other answers by
  // `write`. Compressed answers that were not requested stay compressed.
  set(CURLOPT_MAXFILESIZE_LARGE, curl_off_t(transfer.request->maxBytes));
  set(CURLOPT_WRITEFUNCTION, &Transfer::write);
  set(CURLOPT_WRITEDATA, &transfer);
  set(CURLOPT_HEADERFUNCTION, &Transfer::header);
  set(CURLOPT_HEADERDATA, &transfer);
  if (config.progress) {
    transfer.progress = &config.progress;
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &Transfer::report);
    set(CURLOPT_XFERINFODATA, &transfer);
  }
}

HttpClient::Transfer HttpClient::perform(const std::string &url,
                                         const HttpRequest &request,
                                         bool withToken, Milliseconds left) {
  Transfer transfer;
  transfer.url = url;
  transfer.request = &request;
  configure(transfer, std::max(left, Milliseconds(1)));
  curl_slist *headers = nullptr;
  if (withToken && !config.token.empty())
    headers = curl->append(headers,
                           ("Authorization: Bearer " + config.token).c_str());
  curl->setOption(handle.get(), CURLOPT_HTTPHEADER, headers);
  char reason[CURL_ERROR_SIZE] = "";
  curl->setOption(handle.get(), CURLOPT_ERRORBUFFER, reason);
  CURLcode code = curl->perform(handle.get());
  curl->setOption(handle.get(), CURLOPT_ERRORBUFFER, nullptr);
  curl->freeList(headers);
  conclude(transfer, code, *reason ? reason : curl->describe(code));
  return transfer;
}

static bool isDropped(CURLcode code) {
  return code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR ||
         code == CURLE_GOT_NOTHING || code == CURLE_PARTIAL_FILE ||
         code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM;
}

/// Turns the results of libcurl and of the server into an answer, a redirect or
/// an error.
void HttpClient::conclude(Transfer &transfer, CURLcode code,
                          const char *reason) {
  if (transfer.tooLarge || code == CURLE_FILESIZE_EXCEEDED) {
    transfer.fail("the answer is larger than " +
                      formatInteger(int64_t(transfer.request->maxBytes)) +
                      " bytes",
                  "");
    return;
  }
  if (code != CURLE_OK) {
    transfer.mayPass = isDropped(code);
    bool distrusted = code == CURLE_PEER_FAILED_VERIFICATION ||
                      code == CURLE_SSL_CACERT_BADFILE;
    transfer.fail("cannot download: " + excerpt(reason),
                  distrusted ? "CURL_CA_BUNDLE names a file of certificates to "
                               "trust"
                             : "without a network: a model that is bundled or "
                               "in a cache, or the path of a config.json");
    return;
  }
  char *redirect = nullptr;
  curl_off_t retryAfter = 0;
  long &status = transfer.answer.status;
  curl->getInfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
  curl->getInfo(handle.get(), CURLINFO_REDIRECT_URL, &redirect);
  curl->getInfo(handle.get(), CURLINFO_RETRY_AFTER, &retryAfter);
  constexpr curl_off_t longest = 1'000'000;
  transfer.retryAfter = std::chrono::seconds(std::min(retryAfter, longest));
  transfer.mayPass = status == 429 || status >= 500;
  if (redirect)
    transfer.redirect = redirect;
  else if (status < 200 || (status >= 300 && status < 400) || transfer.mayPass)
    transfer.fail("the server answers HTTP " + std::to_string(status), "");
}

/// Gets `request` and follows redirects. Once a redirect leads to another
/// origin, the token is not sent any more.
HttpClient::Transfer HttpClient::follow(const HttpRequest &request,
                                        Milliseconds left) {
  Clock::time_point start = Clock::now();
  std::string url = request.url, commit;
  bool withToken = true;
  for (unsigned redirects = 0;; ++redirects) {
    Transfer refused;
    refused.url = request.url;
    Result<std::string> origin = originOf(url);
    if (!origin)
      return refused.fail("redirects to " + excerpt(origin.error().str()), "");
    if (redirects > maxRedirects)
      return refused.fail(
          "more than " + std::to_string(maxRedirects) + " redirects", "");
    withToken &= *origin == endpointOrigin;
    Transfer transfer = perform(url, request, withToken, left - since(start));
    // The endpoint knows the commit; the storage to which it redirects may not
    // know it.
    if (commit.empty() && withToken)
      commit = transfer.answer.commit;
    transfer.answer.commit = commit;
    if (transfer.error || transfer.redirect.empty())
      return transfer;
    url = transfer.redirect;
  }
}

/// Waits before the next try. Returns the reason if there is no next try.
std::optional<Error> HttpClient::wait(Transfer &transfer, unsigned attempt,
                                      Milliseconds left) const {
  Milliseconds time =
      std::max(transfer.retryAfter, firstWait * (1 << (attempt - 1)));
  Error error = *transfer.error;
  if (attempt == maxTries) {
    error.note =
        "tried " + std::to_string(maxTries) + " times; try again later";
    return error;
  }
  if (time >= left) {
    error.message += transfer.retryAfter.count()
                         ? " and asks to wait " + seconds(transfer.retryAfter)
                         : "";
    error.note = "gave up after " + seconds(config.total) +
                 "; AUTOPAR_HTTP_TIMEOUT sets the seconds";
    return error;
  }
  if (config.progress && time > quietTime)
    config.progress(error.str() + ": waiting " + seconds(time));
  std::this_thread::sleep_for(time);
  return std::nullopt;
}

Result<HttpAnswer> HttpClient::get(const HttpRequest &request) {
  Clock::time_point start = Clock::now();
  std::optional<Error> error;
  for (unsigned attempt = 1; !error; ++attempt) {
    Transfer transfer = follow(request, config.total - since(start));
    if (config.progress)
      config.progress("");
    if (!transfer.error)
      return std::move(transfer.answer);
    error = transfer.mayPass
                ? wait(transfer, attempt, config.total - since(start))
                : transfer.error;
  }
  error->where = excerpt(error->where);
  return *error;
}

std::string HttpClient::excerpt(std::string text) const {
  const std::string &token = config.token;
  for (size_t at = 0;
       !token.empty() && (at = text.find(token, at)) != text.npos;)
    text.replace(at, token.size(), "***");
  constexpr size_t limit = 200;
  std::string result;
  for (unsigned char c : text.substr(0, limit)) {
    constexpr char digits[] = "0123456789abcdef";
    if (c >= 0x20 && c < 0x7f)
      result += char(c);
    else
      result += std::string("\\x") + digits[c >> 4] + digits[c & 15];
  }
  return text.size() > limit ? result + "..." : result;
}
