//===- ReportPass.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Price/ReportPass.h"

#include "autopar/Support/File.h"
#include "autopar/Transforms/Price/Estimate.h"

#include "llvm/ADT/StringExtras.h"

using namespace autopar;
using namespace autopar::transforms;
using namespace mlir;

const ReportPass *ReportPass::from(const Pass &pass) {
  static constexpr StringRef names[] = {"autopar-estimate",
                                        "autopar-diff-modules"};
  return llvm::is_contained(names, pass.getArgument())
             ? static_cast<const ReportPass *>(&pass)
             : nullptr;
}

LogicalResult ReportPass::verifyFormat(StringRef format,
                                       ArrayRef<StringRef> known) {
  if (llvm::is_contained(known, format))
    return success();
  return getOperation().emitError()
         << "unknown report format '" << format << "', expected "
         << llvm::join(known.drop_back(), ", ") << " or " << known.back();
}

TextStyle ReportPass::styleOf(StringRef path) {
  return path == "-" ? outputStyle() : TextStyle();
}

LogicalResult ReportPass::write(const std::string &path,
                                const std::string &text) {
  Result<bool> written = writeOutput(path, text);
  return written ? success() : emitError(getOperation(), written.error());
}
