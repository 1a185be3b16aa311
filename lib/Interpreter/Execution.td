//===- Execution.td - What an interpreter asks of an op ----*- tablegen -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_EXECUTION_TD
#define AUTOPAR_INTERFACES_EXECUTION_TD

include "mlir/IR/OpBase.td"

def ExecutableOpInterface : OpInterface<"ExecutableOpInterface"> {
  let cppNamespace = "::autopar::interpreter";
  let description = [{
    What an op does on each of the simulated devices. All devices `prepare`
    before any `execute`s, and all have executed an op before the next one: a
    collective reads what its peers have.
  }];
  let methods = [
    InterfaceMethod<"Updates what `device` keeps between steps.",
                    "::mlir::LogicalResult", "prepare",
                    (ins "::autopar::interpreter::Device &":$device), "",
                    "return ::mlir::success();">,
    InterfaceMethod<"What the results are on `device`. Errors are emitted.",
                    "::mlir::FailureOr<::autopar::interpreter::LocalTensors>", "execute",
                    (ins "::autopar::interpreter::Device &":$device)>,
  ];
}

#endif // AUTOPAR_INTERFACES_EXECUTION_TD
