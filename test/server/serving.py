# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A server to test, and a client that says exactly what it is told to."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import jsonschema

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Server:
    """`autopar serve` on a port that is free, for a `with`."""

    def __init__(self, folder, *flags):
        environment = dict(os.environ, AUTOPAR_DATA=SOURCE, HF_HUB_OFFLINE="1")
        self.process = subprocess.Popen(
            [os.path.join(folder, "autopar"), "serve", "--port=0", *flags],
            stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        line = self.process.stdout.readline()
        found = re.fullmatch(r"autopar is at http://(.*):(\d+)/ \(Ctrl-C ends it\)\n", line)
        if not found:
            raise SystemExit(f"error: no server: {line!r}")
        self.port = int(found[2])
        self.host = f"127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends it; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=90)

    def raw(self, data):
        """The status that bytes are answered with, and its body; 0: none."""
        with self.connect() as client:
            try:
                client.sendall(data)
            except OSError:
                pass
            return read_answer(client)

    def ask(self, method, path, body=None, headers=None):
        """One request on a connection of its own: status, headers, body."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=90)
        try:
            return ask(client, method, path, body, headers)
        finally:
            client.close()


def read_answer(client):
    answer = http.client.HTTPResponse(client)
    try:
        answer.begin()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return 0, b""


def ask(client, method, path, body=None, headers=None):
    headers = dict(headers or {})
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    if body is not None:
        headers.setdefault("Content-Type", "application/json")
    client.request(method, path, body, headers)
    answer = client.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()


class Document:
    """An OpenAPI document, and what bodies must be by it."""

    ADDRESS = "http://autopar/openapi.json"

    def __init__(self, server):
        self.root = json.loads(server.ask("GET", "/openapi.json")[2])
        store = {self.ADDRESS: self.root}
        for name in sorted(set(re.findall(r'"schemas/([^"#]*)', json.dumps(self.root)))):
            status, _, body = server.ask("GET", f"/schemas/{name}")
            assert status == 200, f"/schemas/{name} is {status}"
            schema = json.loads(body)
            jsonschema.Draft202012Validator.check_schema(schema)
            store[f"http://autopar/schemas/{name}"] = schema
            store[schema.get("$id", name)] = schema
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.resolver = jsonschema.RefResolver(self.ADDRESS, self.root, store)

    def follow(self, value):
        while "$ref" in value:
            value = self.resolver.resolve_from_url(self.ADDRESS + value["$ref"])
        return value

    def operations(self):
        for path, methods in self.root["paths"].items():
            for method, operation in methods.items():
                yield path, method.upper(), operation

    def errors(self, schema, value):
        validator = jsonschema.Draft202012Validator(schema, resolver=self.resolver)
        # All of them: a resolver does not forget where an unfinished search was.
        errors = list(validator.iter_errors(value))
        return f"{list(errors[0].absolute_path)}: {errors[0].message[:300]}" if errors else None

    def wrong(self, operation, status, headers, body):
        """What is wrong with an answer; None: nothing."""
        documented = operation["responses"].get(str(status))
        if documented is None:
            return f"status {status} is not documented: {body[:300]!r}"
        kind = headers.get("Content-Type", "").split(";")[0]
        content = self.follow(documented).get("content", {})
        if kind not in content:
            return f"status {status} has type {kind!r}, not {list(content)}"
        if not kind.endswith("json"):
            return None
        try:
            value = json.loads(body)
        except ValueError as error:
            return f"status {status} is no JSON: {error}"
        return self.errors(content[kind]["schema"], value)
