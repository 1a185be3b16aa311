//===- ByteSource.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Checkpoint/ByteSource.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace autopar;
using namespace autopar::checkpoint;

namespace {

class FileSource : public ByteSource {
public:
  FileSource(std::string path, int descriptor, uint64_t bytes)
      : path(std::move(path)), descriptor(descriptor), bytes(bytes) {}
  ~FileSource() override { close(descriptor); }

  const std::string &name() const override { return path; }
  uint64_t size() const override { return bytes; }

  Result<std::string> read(uint64_t offset, uint64_t count) override {
    std::string text(count, '\0');
    for (uint64_t done = 0; done < count;) {
      ssize_t got = pread(descriptor, text.data() + done, count - done,
                          static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR)
        continue;
      if (got <= 0)
        return Error{path,
                     got ? std::string("cannot read: ") + std::strerror(errno)
                         : "ends before byte " + std::to_string(offset + count),
                     ""};
      done += static_cast<uint64_t>(got);
    }
    return text;
  }

private:
  std::string path;
  int descriptor;
  uint64_t bytes;
};

class Directory : public ByteFolder {
public:
  explicit Directory(std::string path) : path(std::move(path)) {}

  const std::string &name() const override { return path; }

  Result<std::unique_ptr<ByteSource>>
  open(const std::string &file) const override {
    std::string full = path.empty() ? file : path + "/" + file;
    struct stat status;
    if (stat(full.c_str(), &status) != 0 && errno == ENOENT)
      return std::unique_ptr<ByteSource>();
    return openFile(full);
  }

private:
  std::string path;
};

} // namespace

Result<std::unique_ptr<ByteSource>>
autopar::checkpoint::openFile(const std::string &path) {
  struct stat status;
  // Opening a pipe would block, so only regular files are opened.
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return Error{path, "is not a regular file", ""};
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return Error{path, std::string("cannot open: ") + std::strerror(errno), ""};
  if (fstat(descriptor, &status) != 0) {
    close(descriptor);
    return Error{path, std::string("cannot read: ") + std::strerror(errno), ""};
  }
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(
      path, descriptor, static_cast<uint64_t>(status.st_size)));
}

std::unique_ptr<ByteFolder> autopar::checkpoint::openFolder(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return std::make_unique<Directory>(std::move(path));
}
