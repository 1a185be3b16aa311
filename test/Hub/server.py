#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A hub on localhost that fails in every way. `org/NAME` answers for its
config.json as the function NAME of `Models` says.

usage: server.py FOLDER   makes a certificate in FOLDER (cert.pem), serves,
                          and prints its port; ends with standard input
"""

import collections
import gzip
import http.server
import json
import math
import os
import ssl
import struct
import subprocess
import sys
import threading
import time
import urllib.parse

CONFIG = json.dumps(
    {
        "model_type": "llama", "torch_dtype": "bfloat16", "hidden_size": 8, "vocab_size": 32,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
        "intermediate_size": 16,
    }
).encode()  # fmt: skip
COMMIT = "0123456789abcdef0123456789abcdef01234567"
BLOB = bytes(i * 7 % 251 for i in range(300_000))
MEGABYTE = 1 << 20


def safetensors(shapes):
    """A file whose data are zeros."""
    entries, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 2 * math.prod(shape)
        entries[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, end]}
    header = json.dumps(entries).encode()
    return struct.pack("<Q", len(header)) + header + bytes(end)


# What `newcomer` has, whose type has no family: a Llama with other
# names of norms.
NEWCOMER = {"model.embed_tokens.weight": [32, 8], "lm_head.weight": [32, 8], "model.norm.weight": [8]}
for layer in ("model.layers.0.", "model.layers.1."):
    NEWCOMER |= {
        layer + name + ".weight": shape
        for name, shape in {
            "ln_attn": [8], "ln_mlp": [8], "self_attn.q_proj": [8, 8], "self_attn.k_proj": [4, 8], "self_attn.v_proj": [4, 8],
            "self_attn.o_proj": [8, 8], "mlp.gate_proj": [16, 8], "mlp.up_proj": [16, 8], "mlp.down_proj": [8, 16],
        }.items()
    }  # fmt: skip
NEWCOMER = safetensors(NEWCOMER)


class Models:
    """What a request for config.json gets; `tries` counts them, from 1."""

    def good(request, tries):
        request.answer(200, CONFIG, {"X-Repo-Commit": COMMIT})

    def trouble(request, tries):
        said = request.headers.get("Authorization", "")
        request.answer(200, json.dumps({"error": "try again", "you": said}).encode(), {"X-Repo-Commit": COMMIT})

    def changes(request, tries):
        changed = json.dumps(json.loads(CONFIG) | {"vocab_size": 32 * tries}).encode()
        request.answer(200, changed, {"X-Repo-Commit": COMMIT[:-1] + str(tries)})

    def breaks(request, tries):
        Models.good(request, tries) if tries == 1 else Models.trouble(request, tries)

    def nameless(request, tries):
        request.answer(200, CONFIG)

    def unauthorized(request, tries):
        request.answer(401, b"")

    def forbidden(request, tries):
        request.answer(403, b"")

    def teapot(request, tries):
        request.answer(418, b"")

    def busy(request, tries):
        request.answer(429, b"")

    def busy_once(request, tries):
        if tries > 1:
            return Models.good(request, tries)
        request.answer(429, b"", {"Retry-After": "1"})

    def busy_long(request, tries):
        request.answer(429, b"", {"Retry-After": "86400"})

    def broken(request, tries):
        request.answer(500, b"")

    def broken_once(request, tries):
        request.answer(500, b"") if tries == 1 else Models.good(request, tries)

    def truncated(request, tries):
        request.answer(200, CONFIG[:50], {"Content-Length": str(len(CONFIG))})

    def dropped_once(request, tries):
        if tries > 1:
            return Models.good(request, tries)
        request.close_connection = True  # Without a word.

    def slow(request, tries):
        request.answer(200, CONFIG[:50], {"Content-Length": str(len(CONFIG))})
        time.sleep(30)

    def silent(request, tries):
        time.sleep(30)

    def trickle(request, tries):
        request.answer(200, b"", {"Content-Length": str(len(CONFIG))})
        for i in range(0, len(CONFIG), 20):
            time.sleep(0.2)
            request.wfile.write(CONFIG[i : i + 20])

    def html(request, tries):
        said = request.headers.get("Authorization", "")
        request.answer(200, b"<html>\x1b[31m\r\n" + said.encode() + b"</html>")

    def list(request, tries):
        request.answer(200, b"[1, 2]")

    def empty(request, tries):
        request.answer(200, b"")

    def elsewhere(request, tries):
        request.redirect(f"https://127.0.0.1:{request.port}/good")

    def relative(request, tries):
        request.redirect("../../../good/resolve/main/config.json")

    def there_and_back(request, tries):
        request.redirect(f"https://127.0.0.1:{request.port}/back")

    def loop(request, tries):
        request.redirect("config.json")

    def chain(request, tries):
        request.redirect("/hops/5")

    def long_chain(request, tries):
        request.redirect("/hops/6")

    def plain(request, tries):
        request.redirect(f"http://localhost:{request.port}/good")

    def local_file(request, tries):
        request.redirect("file:///etc/hostname")

    def with_user(request, tries):
        request.redirect(f"https://user:secret@localhost:{request.port}/good")

    def nowhere(request, tries):
        request.answer(302, b"")

    def large(request, tries):
        request.answer(200, b"{", {"Content-Length": str(17 * MEGABYTE)})

    def endless(request, tries):
        request.answer(200, b"", {"Content-Length": None})
        for _ in range(40):
            request.wfile.write(b" " * MEGABYTE)

    def bomb(request, tries):
        body = gzip.compress(bytes(64 * MEGABYTE))
        request.answer(200, body, {"Content-Encoding": "gzip"})

    def newcomer(request, tries):
        unknown = json.dumps(json.loads(CONFIG) | {"model_type": "newcomer"}).encode()
        request.answer(200, unknown, {"X-Repo-Commit": COMMIT})

    def quantized(request, tries):
        Models.good(request, tries)

    def quant_broken(request, tries):
        Models.good(request, tries)


class Ranges:
    """What a request for a part of the file org/ranges/NAME gets."""

    def blob(request, first, last):
        last = min(last, len(BLOB) - 1)
        headers = {"Content-Range": f"bytes {first}-{last}/{len(BLOB)}"}
        request.answer(206, BLOB[first : last + 1], headers)

    def moved(request, first, last):
        request.redirect(f"https://127.0.0.1:{request.port}/org/ranges/resolve/main/blob")

    def whole(request, first, last):
        request.answer(200, BLOB[:100])

    def other(request, first, last):
        Ranges.blob(request, first + 1, last + 1)

    def short(request, first, last):
        headers = {"Content-Range": f"bytes {first}-{first + 99}/{len(BLOB)}"}
        request.answer(206, BLOB[first : first + 100], headers)

    def grows(request, first, last):
        headers = {"Content-Range": f"bytes {first}-{last}/{len(BLOB) + first}"}
        request.answer(206, BLOB[first : last + 1], headers)


class Request(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    tries = collections.Counter()
    # (host, path, token) of every request.
    log = []

    def answer(self, status, body, headers={}):
        """Sends `body`. Where its length is not told, or a lie, that ends the
        connection; a header None is left out."""
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            if value is not None:
                self.send_header(name, value)
        if "Content-Length" in headers:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)

    def redirect(self, location):
        self.answer(302, b"", {"Location": location})

    def do_GET(self):
        host = self.headers.get("Host", "").split(":")[0]
        Request.log.append((host, self.path, self.headers.get("Authorization", "")))
        path = urllib.parse.urlsplit(self.path).path
        if path == "/log":
            return self.answer(200, json.dumps(Request.log).encode())
        if path == "/good":
            return Models.good(self, 1)
        if path == "/back":
            return self.redirect(f"https://localhost:{self.port}/good")
        if path.startswith("/hops/"):
            left = int(path.split("/")[2])
            return self.redirect(f"/hops/{left - 1}") if left > 1 else Models.good(self, 1)
        self.do_file(*path.split("/")[1:])

    def do_file(self, org, name="", resolve="", revision="", file="", *rest):
        if org == "org" and name == "ranges" and hasattr(Ranges, file):
            first, last = self.headers["Range"].removeprefix("bytes=").split("-")
            return getattr(Ranges, file)(self, int(first), int(last))
        if name == "newcomer" and file == "model.safetensors":
            first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
            last = min(last, len(NEWCOMER) - 1)
            headers = {"Content-Range": f"bytes {first}-{last}/{len(NEWCOMER)}"}
            return self.answer(206, NEWCOMER[first : last + 1], headers)
        if name == "quantized" and file == "hf_quant_config.json":
            return self.answer(200, b'{"quantization": {"quant_algo": "FP8"}}')
        if name == "quant_broken" and file == "quantize_config.json":
            return self.answer(200, b"<html>")
        behaviour = getattr(Models, name, None)
        known = revision in ("main", "v1", "refs%2Fpr%2F1", COMMIT)
        if org != "org" or not known or not behaviour or file != "config.json":
            return self.answer(404, b"Entry not found")
        Request.tries[self.path] += 1
        behaviour(self, Request.tries[self.path])

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass  # Clients that hang up are what is tested.

    def finish_request(self, request, address):
        # Here and not at accept: a handshake may take its time.
        secure = self.tls.wrap_socket(request, server_side=True)
        super().finish_request(secure, address)
        try:
            secure.unwrap()
        except OSError:
            pass
        secure.close()


def make_certificate(folder):
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", names,
         "-keyout", os.path.join(folder, "key.pem"), "-out", os.path.join(folder, "cert.pem")],
        check=True, capture_output=True,
    )  # fmt: skip


def start(folder):
    """Serves in a thread and returns the port."""
    os.makedirs(folder, exist_ok=True)
    make_certificate(folder)
    server = Server(("127.0.0.1", 0), Request)
    server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.tls.load_cert_chain(os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem"))
    Request.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return Request.port


if __name__ == "__main__":
    print(start(sys.argv[1]), flush=True)
    sys.stdin.read()
