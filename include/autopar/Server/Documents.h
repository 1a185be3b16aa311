//===- Documents.h - Documents of a server ----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVER_DOCUMENTS_H
#define AUTOPAR_SERVER_DOCUMENTS_H

#include "autopar/Server/Http.h"
#include "autopar/Server/Problem.h"
#include "autopar/Support/Json.h"

namespace autopar::server {

/// Returns a fixed document: the page, the OpenAPI document, a schema, or the
/// health check. `id` is the name of the schema in the path.
HttpResponse documentOf(const HttpRequest &request, const std::string &id);

/// Returns the OpenAPI document with the command-line flags of plans added to
/// its objects of flags.
std::string withFlags(const JsonDocument &document);

} // namespace autopar::server

#endif // AUTOPAR_SERVER_DOCUMENTS_H
