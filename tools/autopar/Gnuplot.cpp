//===- Gnuplot.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gnuplot.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Text.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Program.h"

using namespace autopar;

Result<std::string> autopar::findGnuplot() {
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName("gnuplot");
  if (program)
    return *program;
  return Error{"", "gnuplot, which draws plots, is not installed",
               "install it (Debian: gnuplot-nox), or take --format=csv to "
               "another program"};
}

namespace {

/// A temporary file, which the destructor removes.
struct TemporaryFile {
  llvm::SmallString<64> path;
  std::error_code error;
  llvm::FileRemover remover;

  explicit TemporaryFile(const char *suffix)
      : error(
            llvm::sys::fs::createTemporaryFile("autopar-plot", suffix, path)) {
    remover.setFile(path);
  }
  std::string name() const { return path.str().str(); }
};

} // namespace

Result<std::string> autopar::runGnuplot(const std::string &program,
                                        const std::string &script) {
  constexpr unsigned seconds = 60;
  TemporaryFile input("gp"), output("svg"), errors("txt");
  for (const TemporaryFile *file : {&input, &output, &errors})
    if (file->error)
      return Error{"", "no temporary file: " + file->error.message(), ""};
  if (Result<bool> written = writeFile(input.name(), script); !written)
    return written.error();
  std::string message;
  // With `-d`, gnuplot ignores the user's own settings.
  int code = llvm::sys::ExecuteAndWait(
      program, {program, "-d", input.path}, std::nullopt,
      {llvm::StringRef(), output.path.str(), errors.path.str()}, seconds, 0,
      &message);
  Result<std::string> picture = readFile(output.name());
  if (code == 0 && picture && !picture->empty())
    return picture;
  if (Result<std::string> said = readFile(errors.name()); said)
    message += *said;
  return Error{"", program + " could not draw: " + shorten(message), ""};
}
