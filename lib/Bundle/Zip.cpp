//===- Zip.cpp ------------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Zip.h"

#include "ZipApi.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::bundle;

bool autopar::bundle::isPlainName(const std::string &name) {
  size_t begin = 0;
  while (begin <= name.size()) {
    size_t end = std::min(name.find('/', begin), name.size());
    std::string word = name.substr(begin, end - begin);
    bool isPlain = !word.empty() && word[0] != '.' &&
                   std::all_of(word.begin(), word.end(), [](unsigned char c) {
                     return std::isalnum(c) || c == '.' || c == '-' ||
                            c == '_' || c == '+';
                   });
    if (!isPlain)
      return false;
    begin = end + 1;
  }
  return true;
}

namespace {

/// A zip archive in memory.
class Archive {
public:
  explicit Archive(const ZipApi &api) : api(api) { api.initError(&error); }
  ~Archive() {
    if (archive)
      api.discard(archive);
    if (source)
      api.freeSource(source);
    api.endError(&error);
  }
  Archive(const Archive &) = delete;
  Archive &operator=(const Archive &) = delete;

  /// Opens the archive in `bytes`, which must outlive it.
  bool open(const void *bytes, size_t size, int flags) {
    source = api.createBuffer(bytes, size, 0, &error);
    if (!source)
      return false;
    // `keepSource` keeps the source, because closing an archive frees it.
    api.keepSource(source);
    archive = api.open(source, flags, &error);
    if (!archive)
      api.freeSource(source);
    return archive != nullptr;
  }
  bool close() {
    bool done = api.close(archive) == 0;
    if (done)
      archive = nullptr;
    return done;
  }
  std::string problem() {
    return archive ? api.describeArchive(archive) : api.describe(&error);
  }

  const ZipApi &api;
  zip_error_t error;
  zip_source_t *source = nullptr;
  zip_t *archive = nullptr;
};

} // namespace

//===----------------------------------------------------------------------===//
// Writing archives
//===----------------------------------------------------------------------===//

static bool add(Archive &zip, const std::string &name,
                const std::string &text) {
  const ZipApi &api = zip.api;
  zip_source_t *source =
      api.createBuffer(text.data(), text.size(), 0, &zip.error);
  if (!source)
    return false;
  zip_int64_t index =
      api.add(zip.archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    api.freeSource(source);
    return false;
  }
  constexpr zip_uint16_t midnight = 0, firstDayOf1980 = 1 << 5 | 1;
  constexpr zip_uint32_t best = 9;
  return api.setTime(zip.archive, index, midnight, firstDayOf1980, 0) == 0 &&
         api.setCompression(zip.archive, index, ZIP_CM_DEFLATE, best) == 0;
}

static std::string readAll(Archive &zip) {
  std::string bytes;
  char buffer[1 << 16];
  if (zip.api.openSource(zip.source) != 0)
    return bytes;
  for (zip_int64_t count;
       (count = zip.api.readSource(zip.source, buffer, sizeof(buffer))) > 0;)
    bytes.append(buffer, static_cast<size_t>(count));
  zip.api.closeSource(zip.source);
  return bytes;
}

Result<std::string> autopar::bundle::packZip(const Entries &entries) {
  Result<const ZipApi *> api = loadZip();
  if (!api)
    return api.error();
  Archive zip(**api);
  bool done = zip.open(nullptr, 0, ZIP_TRUNCATE);
  for (const auto &[name, text] : entries)
    done = done && add(zip, name, text);
  done = done && zip.close();
  if (!done)
    return Error{"", "cannot write a bundle: " + zip.problem(), ""};
  return readAll(zip);
}

//===----------------------------------------------------------------------===//
// Reading archives
//===----------------------------------------------------------------------===//

/// Returns the reason to refuse an entry before it is unpacked; nothing if
/// there is none.
static std::optional<std::string> refuse(const zip_stat_t &entry,
                                         uint64_t unpacked) {
  constexpr zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE |
                                  ZIP_STAT_COMP_SIZE |
                                  ZIP_STAT_ENCRYPTION_METHOD;
  if ((entry.valid & needed) != needed)
    return "has no name or no size";
  if (!isPlainName(entry.name))
    return "is no plain name: letters, digits, \".\", \"-\" and \"_\", in "
           "folders";
  if (entry.encryption_method != ZIP_EM_NONE)
    return "is encrypted";
  if (entry.size > limits::maxUnpackedBytes - unpacked)
    return "makes more than " + formatInteger(limits::maxUnpackedBytes) +
           " bytes, unpacked";
  // Short texts may be well compressible without being an attack.
  constexpr uint64_t least = 1 << 16;
  if (entry.size > least &&
      entry.size / limits::maxPackingRatio > entry.comp_size)
    return "is packed to less than 1/" +
           std::to_string(limits::maxPackingRatio) + " of its " +
           formatInteger(static_cast<int64_t>(entry.size)) + " bytes";
  return std::nullopt;
}

/// Unpacks an entry, at most `size` bytes of it, whatever the archive contains;
/// the hash of the archive is checked at its end.
static std::optional<std::string> unpack(Archive &zip, zip_uint64_t index,
                                         uint64_t size) {
  zip_file_t *file = zip.api.openFile(zip.archive, index, 0);
  if (!file)
    return std::nullopt;
  std::string text(size, '\0');
  uint64_t got = 0;
  zip_int64_t count = 0;
  while (got < size &&
         (count = zip.api.read(file, text.data() + got, size - got)) > 0)
    got += static_cast<uint64_t>(count);
  char more;
  bool isWhole = got == size && zip.api.read(file, &more, 1) == 0;
  isWhole &= zip.api.closeFile(file) == 0;
  return isWhole ? std::optional(std::move(text)) : std::nullopt;
}

Result<Entries> autopar::bundle::unpackZip(const std::string &bytes,
                                           const std::string &file) {
  Result<const ZipApi *> api = loadZip();
  if (!api)
    return api.error();
  if (bytes.size() > limits::maxBundleBytes)
    return Error{file,
                 "is larger than the " + formatInteger(limits::maxBundleBytes) +
                     " bytes of a bundle",
                 ""};
  Archive zip(**api);
  if (!zip.open(bytes.data(), bytes.size(), ZIP_RDONLY | ZIP_CHECKCONS))
    return Error{file, "cannot be read as a zip: " + zip.problem(),
                 "autopar estimate .. --bundle=FILE writes one"};
  zip_int64_t count = zip.api.count(zip.archive, 0);
  if (count < 0 || static_cast<size_t>(count) > limits::maxBundleFiles)
    return Error{file,
                 "has " + formatInteger(count) + " entries, at most " +
                     std::to_string(limits::maxBundleFiles) +
                     " are of a bundle",
                 ""};
  Entries entries;
  uint64_t unpacked = 0;
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t entry;
    if (zip.api.stat(zip.archive, i, 0, &entry) != 0)
      return Error{file, "entry " + std::to_string(i) + ": " + zip.problem(),
                   ""};
    std::string name = entry.valid & ZIP_STAT_NAME ? entry.name : "";
    std::string where = file + ": entry \"" + shorten(name) + "\"";
    if (auto problem = refuse(entry, unpacked))
      return Error{where, *problem, ""};
    unpacked += entry.size;
    std::optional<std::string> text = unpack(zip, i, entry.size);
    if (!text)
      return Error{where, "is damaged", ""};
    if (!entries.emplace(name, std::move(*text)).second)
      return Error{where, "is there twice", ""};
  }
  return entries;
}
