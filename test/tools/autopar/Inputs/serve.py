# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts a server, asks it, starts another at its port, and ends it."""

import http.client
import re
import signal
import subprocess

server = subprocess.Popen(["autopar", "serve", "--port=0"], stdout=subprocess.PIPE, text=True)
port = re.search(r":(\d+)/", server.stdout.readline())[1]


def ask(**headers):
    client = http.client.HTTPConnection("127.0.0.1", int(port), timeout=30)
    client.request("GET", "/healthz", headers=headers)
    return client.getresponse()


answer = ask()
print(answer.status, answer.read().decode())
answer = ask(Host="evil.example")
print(answer.status, answer.headers["Content-Type"])
other = subprocess.run(["autopar", "serve", f"--port={port}"], stderr=subprocess.PIPE, text=True)
print(other.stderr, end="")
print("exit code", other.returncode)
server.send_signal(signal.SIGINT)
print("exit code", server.wait(10))
