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

/// The page, the OpenAPI document, a schema, or that all is well. `id` is what
/// the path has of a schema.
HttpResponse documentOf(const HttpRequest &request, const std::string &id);

/// Adds the flags of plans, as on the command line, to the objects of flags in
/// an OpenAPI document.
std::string withFlags(const JsonDocument &document);

} // namespace autopar::server

#endif // AUTOPAR_SERVER_DOCUMENTS_H
