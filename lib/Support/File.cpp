//===- File.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/File.h"

#include "autopar/Support/FileScope.h"
#include "autopar/Support/Limits.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <poll.h>
#include <unistd.h>

using namespace autopar;
namespace fs = std::filesystem;

void autopar::outliveClosedPipe() { std::signal(SIGPIPE, SIG_IGN); }

void autopar::endOnClosedPipe(int exitCode) {
  static int code;
  code = exitCode;
  std::signal(SIGPIPE, [](int) { _exit(code); });
}

/// Returns whether standard output is a pipe that nobody reads any more.
static bool isReaderGone() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP));
}

/// Returns whether standard output accepted everything; `written` says whether
/// the stream did. It is no error if a reader closes its end early, as `head`
/// does.
static Result<bool> outputArrived(bool written) {
  if (std::fflush(stdout) == 0 && written)
    return true;
  int reason = errno;
  if (isReaderGone())
    return true;
  errno = reason;
  return Error{"<stdout>", std::string("cannot write: ") + std::strerror(errno),
               ""};
}

Result<bool> autopar::flushOutput() {
  std::cout.flush();
  return outputArrived(!std::ferror(stdout) && std::cout);
}

static std::atomic<bool> confined = false;

void autopar::confineFiles() { confined = true; }

/// Returns whether this process may read and write files at `path`. If it is
/// confined, it may do so only at some paths.
static bool mayTouch(const std::string &path) {
  if (!confined)
    return true;
  fs::path file(path);
  if (std::find(file.begin(), file.end(), "..") != file.end())
    return false;
  for (const std::string &root : {dataDirectory(""), installedDirectory("")})
    if (path.compare(0, root.size(), root) == 0)
      return true;
  return false;
}

static Error outside(const std::string &path) {
  return {path, "is a path, and files are not opened here",
          "give a name of the libraries"};
}

/// Returns the file scope that replaces the disk; null if there is none.
static FileScope *standIn() {
  FileScope *scope = FileScope::current();
  return scope && scope->replaces() ? scope : nullptr;
}

bool autopar::isDirectory(const std::string &path) {
  if (const FileScope *scope = standIn())
    return scope->isDirectory(path);
  std::error_code error;
  return mayTouch(path) && fs::is_directory(path, error);
}

bool autopar::fileExists(const std::string &path) {
  if (const FileScope *scope = standIn())
    return scope->find(path).has_value();
  std::error_code error;
  return mayTouch(path) && fs::is_regular_file(path, error);
}

static Result<std::string> readStream(std::FILE *file,
                                      const std::string &name) {
  std::string text;
  char buffer[1 << 16];
  while (size_t count = std::fread(buffer, 1, sizeof(buffer), file)) {
    text.append(buffer, count);
    if (text.size() > limits::maxFileBytes)
      return Error{name,
                   "file is larger than " +
                       std::to_string(limits::maxFileBytes) + " bytes",
                   ""};
  }
  if (std::ferror(file))
    return Error{name, std::string("cannot read: ") + std::strerror(errno), ""};
  return text;
}

static Result<std::string> readFromDisk(const std::string &path) {
  if (isDirectory(path))
    return Error{path, "is a directory, expected a file", ""};
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return Error{path, std::string("cannot open: ") + std::strerror(errno), ""};
  Result<std::string> text = readStream(file, path);
  std::fclose(file);
  return text;
}

Result<std::string> autopar::readFile(const std::string &path) {
  if (!standIn() && !mayTouch(path))
    return outside(path);
  if (path == "-")
    return readStream(stdin, "<stdin>");
  if (const FileScope *scope = standIn()) {
    std::optional<std::string> text = scope->find(path);
    return text ? Result<std::string>(std::move(*text))
                : Error{path, "is none of the files that stand in for the disk",
                        ""};
  }
  Result<std::string> text = readFromDisk(path);
  if (FileScope *scope = FileScope::current(); scope && text)
    scope->keepRead(path, *text);
  return text;
}

/// Writes into an existing pipe, terminal or device.
static Result<bool> writeInPlace(const std::string &path,
                                 const std::string &text) {
  std::FILE *file = std::fopen(path.c_str(), "wb");
  bool written =
      file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file)
    written &= std::fclose(file) == 0;
  if (written)
    return true;
  return Error{path, std::string("cannot write: ") + std::strerror(errno), ""};
}

Result<bool> autopar::writeFile(const std::string &name,
                                const std::string &text) {
  if (FileScope *scope = FileScope::current();
      scope && scope->write(name, text))
    return true;
  if (confined)
    return outside(name);
  // If the path is a link, its target is written, so that the link stays.
  std::error_code missing;
  fs::path target = fs::canonical(name, missing);
  std::string path = missing ? name : target.string();
  if (fs::exists(path, missing) && !fs::is_regular_file(path, missing))
    return writeInPlace(path, text);
  std::string temporary = path + ".tmp" + std::to_string(getpid());
  std::FILE *file = std::fopen(temporary.c_str(), "wb");
  if (!file)
    return Error{path, std::string("cannot write: ") + std::strerror(errno),
                 ""};
  bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  written &= std::fclose(file) == 0;
  if (written && std::rename(temporary.c_str(), path.c_str()) == 0)
    return true;
  Error error{path, std::string("cannot write: ") + std::strerror(errno), ""};
  std::remove(temporary.c_str());
  return error;
}

Result<bool> autopar::writeOutput(const std::string &path,
                                  const std::string &text) {
  if (path != "-")
    return writeFile(path, text);
  return outputArrived(std::fwrite(text.data(), 1, text.size(), stdout) ==
                       text.size());
}

std::vector<std::string> autopar::listFiles(const std::string &directory,
                                            const std::string &suffix) {
  std::vector<std::string> names, all;
  std::error_code error;
  if (const FileScope *scope = standIn())
    all = scope->list(directory);
  else if (mayTouch(directory + "/"))
    for (const auto &entry : fs::directory_iterator(directory, error))
      all.push_back(entry.path().filename().string());
  for (std::string &name : all) {
    if (name.size() > suffix.size() &&
        name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0)
      names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string autopar::dataDirectory(const std::string &kind) {
  if (const char *root = std::getenv("AUTOPAR_DATA"))
    return std::string(root) + "/" + kind;
  return installedDirectory(kind);
}

std::string autopar::installedDirectory(const std::string &kind) {
  std::error_code error;
  fs::path executable = fs::read_symlink("/proc/self/exe", error);
  return (executable.parent_path().parent_path() / "share/autopar" / kind)
      .string();
}
