//===- ReportPass.h - Passes that write a report ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_PRICE_REPORTPASS_H
#define AUTOPAR_TRANSFORMS_PRICE_REPORTPASS_H

#include "autopar/Support/TextStyle.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace autopar::transforms {

/// Base class of passes over a module that write a report about it.
class ReportPass : public mlir::OperationPass<mlir::ModuleOp> {
public:
  explicit ReportPass(mlir::TypeID id) : OperationPass(id) {}

  /// Returns the output file; "-" for standard output.
  virtual llvm::StringRef destination() const = 0;
  /// Returns `pass` if it is a report pass, else null.
  static const ReportPass *from(const mlir::Pass &pass);

protected:
  /// Returns the style of text that is written to `path`.
  static TextStyle styleOf(llvm::StringRef path);
  /// Emits an error if `format` is not in `known`.
  mlir::LogicalResult verifyFormat(llvm::StringRef format,
                                   llvm::ArrayRef<llvm::StringRef> known = {
                                       "text", "json", "html"});
  mlir::LogicalResult write(const std::string &path, const std::string &text);
};

} // namespace autopar::transforms

#endif // AUTOPAR_TRANSFORMS_PRICE_REPORTPASS_H
