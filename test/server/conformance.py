#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`autopar serve` against its OpenAPI document: the example of every path, every
error that the document has, and generated requests, good ones spoiled at random.
Every answer must be one that the document has, valid against its schema, and none
may be 5xx (but for the end of the server).

Ends with a line `N passed, N failed`.

usage: conformance.py [--bin DIR] [--count N] [--seed N] [--quick]
"""

import argparse
import concurrent.futures
import http.client
import json
import os
import random
import sys
import threading
import time
import urllib.parse

import serving
from serving import Document, Server

PARAMETERS = {"/models/{id}": "llama-3.2-1b", "/hardware/{id}": "h100-sxm-8", "/schemas/{id}": "report.schema.json"}
TOKEN = "0123456789abcdefXYZ"
MODEL = {"model": "llama-3.2-1b"}


class Count:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, wrong):
        if not wrong:
            self.passed += 1
            return
        self.failed += 1
        if self.failed <= 30:
            print(f"FAIL: {name}: {wrong}")


def path_of(path):
    if path == "/layers":
        return "/layers?model=llama-3.2-1b"
    return path.replace("{id}", PARAMETERS.get(path, ""))


def example_of(operation):
    body = operation.get("requestBody")
    return body["content"]["application/json"]["example"] if body else None


def check_examples(server, document, count):
    for path, method, operation in document.operations():
        answer = server.ask(method, path_of(path), example_of(operation))
        wrong = document.wrong(operation, *answer)
        count.check(f"{method} {path}", wrong or (answer[0] != 200 and f"status {answer[0]}: {answer[2][:300]}"))
        if method == "GET":
            head = server.ask("HEAD", path_of(path))
            same = head[1].get("Content-Length") == answer[1].get("Content-Length")
            count.check(f"HEAD {path}", None if head[0] == 200 and not head[2] and same else f"{head[:2]}")


def check_policies(server, count):
    """Pages run what is in them by its hash; nothing loads anything from elsewhere,
    and no other site may show or read it."""
    for path in ("/", "/models", "/none"):
        headers = server.ask("GET", path)[1]
        policy = headers.get("Content-Security-Policy", "")
        good = "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        good = good and "http" not in policy and not any(name.startswith("Access-Control") for name in headers)
        count.check(f"policy of {path}", None if good else str(headers))


def provoke(server, method, path, body, code):
    """The answer to a request that must be refused with `code`; None where that
    is provoked elsewhere."""
    send = lambda **headers: server.ask(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
    text = body and json.dumps(body).encode()
    if code == 400:
        if body is not None:
            return server.ask(method, path, text[:-1])
        return server.ask(method, path + "%zz" if "?" not in path else path.replace("/", "/%zz", 1))
    if code == 403:
        return random.choice((lambda: send(Host="evil.example"), lambda: send(Origin="http://evil.example"),
                              lambda: send(Sec_Fetch_Site="cross-site")))()  # fmt: skip
    if code == 404:
        return server.ask(method, path.replace("=llama-3.2-1b", "=none") if "=" in path else path + "-none")
    if code == 405:
        return server.ask("DELETE", path)
    if code == 413:
        return server.ask(method, path, b"", {"Content-Length": "99999999", "Content-Type": "application/json"})
    if code == 414:
        return server.ask(method, path + ("&" if "?" in path else "?") + "a" * 5000, body)
    if code == 415:
        return send(Content_Type="text/plain")
    if code == 422 and body is not None:
        return server.ask(method, path, dict(body, unknown=1))
    if code == 431:
        return send(X_Long="a" * 20000)
    return None


def check_errors(server, document, count):
    for path, method, operation in document.operations():
        for code in map(int, operation["responses"]):
            if code == 200:
                continue
            answer = provoke(server, method, path_of(path), example_of(operation), code)
            if answer is None:
                continue
            wrong = document.wrong(operation, *answer)
            count.check(f"{method} {path} {code}", wrong or (answer[0] != code and f"status {answer[0]}"))
            if code == 405:
                count.check(f"{path} Allow", None if method in answer[1].get("Allow", "") else str(answer[1]))


def check_raw(server, count):
    host = f"Host: {server.host}\r\n".encode()
    head = b"POST /estimate HTTP/1.1\r\n" + host
    cases = {
        "no length": (head + b"Content-Type: application/json\r\n\r\n", 411),
        "chunked": (head + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        "two lengths": (head + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
        "two hosts": (b"GET /models HTTP/1.1\r\n" + host + host + b"\r\n", 400),
        "no host": (b"GET /models HTTP/1.1\r\n\r\n", 400),
        "no version": (b"GET /models\r\n\r\n", 400),
        "garbage": (bytes(range(256)) + b"\r\n\r\n", 400),
        "a proxy's request": (b"GET http://a/ HTTP/1.1\r\n" + host + b"\r\n", 400),
        "another path": (b"GET /nothing HTTP/1.1\r\n" + host + b"\r\n", 404),
        "up and away": (b"GET /models/../../etc/passwd HTTP/1.1\r\n" + host + b"\r\n", 404),
        "up, encoded": (b"GET /models/..%2f..%2fetc HTTP/1.1\r\n" + host + b"\r\n", 404),
        "a slow head": (b"GET /models HTTP/1.1\r\n" + host, 408),
        "a slow body": (head + b"Content-Type: application/json\r\nContent-Length: 5\r\n\r\n{", 408),
    }
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        answers = dict(zip(cases, pool.map(lambda case: server.raw(case[0]), cases.values())))
    for name, (_, status) in cases.items():
        count.check(name, None if answers[name][0] == status else f"status {answers[name][0]}")
    # Two requests at once are answered one after another.
    with server.connect() as client:
        one = b"GET /healthz HTTP/1.1\r\n" + host
        client.sendall(one + b"\r\n" + one + b"Connection: close\r\n\r\n")
        text = b""
        while part := client.recv(65536):
            text += part
    count.check("two requests at once", None if text.count(b'{"status": "ok"}') == 2 else repr(text))


def check_busy(server, document, count):
    """429 with Retry-After, where more is asked for than may wait."""
    operation = document.root["paths"]["/estimate"]["post"]
    body = dict(MODEL, explain=True, impact=True, ir=True)
    with concurrent.futures.ThreadPoolExecutor(150) as pool:
        answers = list(pool.map(lambda _: server.ask("POST", "/estimate", body), range(150)))
    busy = [answer for answer in answers if answer[0] == 429]
    others = [answer for answer in answers if answer[0] not in (200, 429)]
    count.check("busy", None if busy and not others else f"{len(busy)} of 429, {len(others)} others")
    for answer in busy[:1]:
        count.check("Retry-After", document.wrong(operation, *answer) or
                    (not answer[1].get("Retry-After", "").isdigit() and "missing"))  # fmt: skip


def check_events(server, count):
    search = dict(MODEL, flags={"devices": 64})
    status, headers, body = server.ask("POST", "/search", search, {"Accept": "text/event-stream"})
    events = [dict(line.split(": ", 1) for line in event.split("\n")[:1]) for event in body.decode().strip().split("\n\n")]
    kinds = [event["event"] for event in events]
    good = status == 200 and (kinds == ["result"] or set(kinds[:-1]) == {"progress"}) and kinds[-1] == "result"
    count.check("events", None if good or headers["Content-Type"] == "application/json" else f"{status} {kinds[-3:]}")


def check_cancelled(server, count):
    """Who goes away while a search runs leaves the worker to others at once."""
    for _ in range(3):
        with server.connect() as client:
            body = json.dumps(dict(model="deepseek-v3", flags={"devices": 256, "hardware": "h200-sxm-8"})).encode()
            client.sendall(
                f"POST /search HTTP/1.1\r\nHost: {server.host}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n".encode() + body
            )
            time.sleep(0.2)
    begun = time.monotonic()
    small = dict(MODEL, flags={"devices": 1, "batch": 1})
    status = server.ask("POST", "/search", small)[0]
    took = time.monotonic() - begun
    count.check("after cancelled searches", None if status == 200 and took < 15 else f"{status} in {took:.1f} s")


def check_end(folder, document, count):
    with Server(folder) as server:
        search = dict(model="deepseek-v3", flags={"devices": 1024, "hardware": "h200-sxm-8"})
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(server.ask("POST", "/search", search)))
        waiting.start()
        time.sleep(1)
        code = server.stop()
        waiting.join()
        operation = document.root["paths"]["/search"]["post"]
        count.check("503", document.wrong(operation, *answers[0]) or (answers[0][0] != 503 and f"{answers[0][0]}"))
        count.check("exit code", None if code == 0 else str(code))


def check_token(folder, document, count):
    with Server(folder, f"--token={TOKEN}") as server:
        for path, method, operation in document.operations():
            answer = server.ask(method, path_of(path), example_of(operation))
            count.check(f"{method} {path} 401", document.wrong(operation, *answer) or (answer[0] != 401 and f"{answer[0]}"))
        status, headers, _ = server.ask("GET", f"/?token={TOKEN}")
        count.check("sign in", None if status == 303 and headers["Location"] == "/" else str(status))
        cookie = headers.get("Set-Cookie", "").split(";")[0]
        count.check("cookie", None if server.ask("GET", "/healthz", None, {"Cookie": cookie})[0] == 200 else cookie)
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        count.check("bearer", None if server.ask("GET", "/healthz", None, bearer)[0] == 200 else "refused")


# ---------------------------------------------------------------------------
# Generated requests
# ---------------------------------------------------------------------------

NASTY = [None, True, False, 0, 1, 2, 3, 8, -1, 1.5, 1e300, -0.0, 2**31, 2**63, 10**40, "", "x", "8", "1..8", "1|2|4", "4k",
         "1M", "?", "-", "../../etc/passwd", "/etc/passwd", "./a.json", "file:///a", "\0", "\u202e", "\ud83d", "é" * 50,
         "a" * 3000, "%s%n", "<script>", "zipf:1.0", "log_normal:9", "tp8,pp2", "tp2", "fp8", "bf16", "int4", "none", "auto",
         "h100-sxm-8", "b200-sxm-8", "vllm", "train", "prefill", "decode", "request", "full", "selective", "uniform:1..9",
         "0.9", "0-3,4-15", [], [1], [1, 2], ["a"], [[1]], {}, {"a": 1}, "chips.h100-sxm.memory_bandwidth=4e12",
         "chips.*.memory_bandwidth=nan", ["systems.*.price=1"]]  # fmt: skip
GOOD = {
    "shard-tp": [1, 2, 4, 8], "shard-dp": [1, 2, 4], "stage-pp": [1, 2, 4], "shard-sp": [True, False], "fsdp": [True],
    "shard-cp": [1, 2], "batch": [1, 8, 64, "1k"], "context": [1024, "4k", "32k"], "prompt": [128, "2k"],
    "phase": ["decode", "prefill", "train"], "hardware": ["h100-sxm-8", "b200-sxm-8", "h200-sxm-8"],
    "runtime": ["vllm", "sglang", "trtllm", "ideal"], "kv-dtype": ["fp8", "bf16"], "rate": [1, 0.5], "concurrency": [4, 64],
    "output-tokens": [100, "uniform:100..500"], "nodes": [1, 2], "plan": ["tp8", "tp4,pp2", "tp2,sp"],
    "set": ["chips.h100-sxm.memory_bandwidth=4e12", ["systems.*.price=2"]], "recompute": ["none", "full", "selective"],
}  # fmt: skip
MODELS = ["llama-3.2-1b", "llama-3.1-8b", "mixtral-8x7b", "deepseek-v2-lite", "gpt2", "bert-base", "llama-3.1-8b:fp8"]


class Generator:
    def __init__(self, document, draw):
        self.draw = draw
        self.operations = list(document.operations())
        schemas = document.root["components"]["schemas"]
        self.flags = {key: list(schemas[key]["properties"]) for key in ("Flags", "SearchFlags", "SweepFlags", "PlacementFlags")}
        self.config = json.load(open(os.path.join(serving.SOURCE, "models/llama-3.2-1b/config.json"), encoding="utf-8"))
        self.module = None

    def good_flags(self, body):
        names = self.draw.sample(list(GOOD), self.draw.randint(0, 4))
        return {name: self.draw.choice(GOOD[name]) for name in names}

    def body(self, path, example):
        """A good body, maybe of another model and with other flags."""
        body = json.loads(json.dumps(example))
        if "model" in body:
            kind = self.draw.random()
            if kind < 0.15:
                del body["model"]
                body["config"] = dict(self.config)
            elif kind < 0.25 and self.module:
                del body["model"]
                body["module"] = self.module
            else:
                body["model"] = self.draw.choice(MODELS)
        for key in ("flags", "first", "second"):
            if key in body and path not in ("/placement", "/search"):
                body[key] = {**(body[key] if self.draw.random() < 0.3 or path == "/sweep" else {}), **self.good_flags(body)}
        return body

    def spoil(self, body, path):
        """One thing of a body, made something else."""
        names = {"/search": "SearchFlags", "/sweep": "SweepFlags", "/placement": "PlacementFlags"}.get(path, "Flags")
        objects = [body] + [body[key] for key in ("flags", "first", "second", "config") if isinstance(body.get(key), dict)]
        target = self.draw.choice(objects)
        kind = self.draw.random()
        if kind < 0.2 and target:
            del target[self.draw.choice(list(target))]
        elif kind < 0.7 and target is not body:
            name = self.draw.choice(self.flags[names] if target is not body.get("config") else list(target) or ["a"])
            target[name] = self.draw.choice(NASTY)
        elif kind < 0.9 and target:
            target[self.draw.choice(list(target))] = self.draw.choice(NASTY)
        else:
            target[self.draw.choice(("x", "", "module", "config", "why", "__proto__"))] = self.draw.choice(NASTY)

    def text(self, body):
        """The text of a body, sometimes damaged."""
        text = json.dumps(body).encode()
        kind = self.draw.random()
        if kind < 0.9 or not text:
            return text
        if kind < 0.93:
            return text[: self.draw.randrange(len(text))]
        if kind < 0.97:
            at = self.draw.randrange(len(text))
            return text[:at] + bytes([self.draw.randrange(256)]) + text[at + 1 :]
        return self.draw.choice((b"", b"[" * 3000, b'{"a":' * 3000, b"\xff\xfe", b"null", b"1e999", b"\0" * 100))

    def damage_module(self):
        text = self.module
        at = self.draw.randrange(len(text))
        return text[:at] + self.draw.choice(("", "%", "(", "}", '"', "0", "\n", "!", "#x", "?")) + text[at + self.draw.randint(0, 3) :]

    def request(self):
        path, method, operation = self.draw.choice(self.operations)
        if method == "GET":
            if self.draw.random() < 0.7:
                path, method, operation = self.draw.choice([one for one in self.operations if one[1] == "POST"])
        if method == "GET":
            target = path.replace("{id}", self.draw.choice(["llama-3.2-1b", "h100-sxm", "..", "%2e%2e", "a%20b", "x" * 500, "é"]))
            if path == "/layers":
                target += self.draw.choice(["", "?model=gpt2", "?model=", "?model=%zz", "?model=../x", "?a=b&model=gpt2&model=x"])
            return method, urllib.parse.quote(target, safe="/%?=&."), None, operation
        body = self.body(path, example_of(operation))
        if self.draw.random() < 0.7:
            self.spoil(body, path)
        if isinstance(body.get("module"), str) and self.draw.random() < 0.5 and self.module:
            body["module"] = self.damage_module()
        return method, path, self.text(body), operation


def check_generated(server, document, count, number, seed):
    generator = Generator(document, random.Random(seed))
    generator.module = json.loads(server.ask("POST", "/import", MODEL)[2])["module"]
    requests = [generator.request() for _ in range(number)]
    statuses = {}
    local = threading.local()

    def send(item):
        method, path, body, _ = item
        for _ in range(50):
            if not hasattr(local, "client"):
                local.client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=90)
            try:
                answer = serving.ask(local.client, method, path, body)
            except (OSError, http.client.HTTPException) as error:
                del local.client
                return 0, {}, str(error).encode()
            if answer[0] != 429:
                return answer
            time.sleep(0.2)
        return answer

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for item, answer in zip(requests, pool.map(send, requests)):
            statuses[answer[0]] = statuses.get(answer[0], 0) + 1
            wrong = document.wrong(item[3], *answer)
            if not wrong and (answer[0] >= 500 or answer[0] == 0):
                wrong = f"status {answer[0]}: {answer[2][:200]!r}"
            count.check(f"{item[0]} {item[1]} {(item[2] or b'')[:600]!r}", wrong)
    print("answers by status:", dict(sorted(statuses.items())))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="examples, errors and some generated requests")
    args = parser.parse_args()
    random.seed(args.seed)
    count = Count()
    with Server(args.bin) as server:
        document = Document(server)
        check_examples(server, document, count)
        check_errors(server, document, count)
        check_policies(server, count)
        if not args.quick:
            check_raw(server, count)
            check_busy(server, document, count)
            check_events(server, count)
            check_cancelled(server, count)
        check_generated(server, document, count, 20 if args.quick else args.count, args.seed)
        alive = server.process.poll() is None
        count.check("the server is there", None if alive else "it has ended")
    check_token(args.bin, document, count)
    if not args.quick:
        check_end(args.bin, document, count)
    print(f"{count.passed} passed, {count.failed} failed")
    return count.failed > 0


if __name__ == "__main__":
    sys.exit(main())
