#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two hundred clients of `autopar serve` at once. A quarter is honest and asks for
estimates, with a second or two to look at each; the others are slow, say nothing,
say nonsense, send more than they may, or go away before they are answered.

Honest clients must be answered, 99 of 100 within a second; memory of all processes
must stay as it is; no worker may fail. Ends with a line `N passed, N failed`.

usage: load.py [--bin DIR] [--seconds N] [--clients N]
"""

import argparse
import asyncio
import json
import logging
import random
import statistics
import sys
import time

from serving import Server

MODELS = ["llama-3.1-8b", "llama-3.3-70b", "deepseek-v3", "mixtral-8x7b"]
# Between two requests of a client, on average.
PAUSE_S = 2
# Of all processes together.
MOST_BYTES = 1 << 30
# Of clients that send too much: how many, and what one may have on its way, which
# comes and goes.
LARGE_SHARE = 0.05
LARGE_BYTES = 3 << 20


class Load:
    def __init__(self, server, seconds):
        self.server = server
        self.end = time.monotonic() + seconds
        self.times, self.statuses, self.memory = [], {}, []

    def going(self):
        return time.monotonic() < self.end

    def post(self, path, body):
        text = json.dumps(body).encode()
        head = (f"POST {path} HTTP/1.1\r\nHost: {self.server.host}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(text)}\r\n\r\n")  # fmt: skip
        return head.encode() + text

    async def open(self):
        return await asyncio.open_connection("127.0.0.1", self.server.port)

    async def answer(self, reader):
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        return status, await reader.readexactly(length)

    def slider(self, draw):
        flags = {"phase": "decode", "shard-tp": 8, "batch": draw.choice((1, 8, 32)), "context": draw.randint(128, 32768)}
        return dict(model=draw.choice(MODELS), flags=flags, impact=True)

    async def honest(self, draw):
        await asyncio.sleep(draw.random() * PAUSE_S)
        reader = writer = None
        while self.going():
            begun = time.monotonic()
            try:
                if writer is None:
                    reader, writer = await self.open()
                writer.write(self.post("/estimate", self.slider(draw)))
                status, _ = await asyncio.wait_for(self.answer(reader), 60)
            except (OSError, asyncio.IncompleteReadError):
                status, writer = 0, None
            self.statuses[status] = self.statuses.get(status, 0) + 1
            self.times.append(time.monotonic() - begun)
            await asyncio.sleep(PAUSE_S * (0.5 + draw.random()))
        if writer:
            writer.close()

    async def slow(self, draw):
        data = self.post("/estimate", self.slider(draw))
        reader, writer = await self.open()
        for byte in data:
            writer.write(bytes([byte]))
            await asyncio.sleep(0.3)
            if reader.at_eof() or not self.going():
                break
        writer.close()

    async def silent(self, draw):
        reader, writer = await self.open()
        if draw.random() < 0.5:
            writer.write(b"GET /mod")
        await asyncio.wait([asyncio.ensure_future(reader.read())], timeout=max(0.1, self.end - time.monotonic()))
        writer.close()

    async def nonsense(self, draw):
        _, writer = await self.open()
        writer.write(draw.randbytes(draw.randint(1, 3000)) + b"\r\n\r\n")
        await asyncio.sleep(0.5 * draw.random())
        writer.close()

    async def large(self, draw):
        reader, writer = await self.open()
        size = draw.choice((1 << 20, LARGE_BYTES, 1 << 40))
        writer.write(f"POST /import HTTP/1.1\r\nHost: {self.server.host}\r\nContent-Type: application/json\r\n"
                     f"Content-Length: {size}\r\n\r\n{{\"model\": \"".encode())  # fmt: skip
        for _ in range(min(size, 4 << 20) >> 16):
            writer.write(b"a" * 65536)
            await writer.drain()
            await asyncio.sleep(0.01)
        await asyncio.wait([asyncio.ensure_future(reader.read(1000))], timeout=2)
        writer.close()
        await asyncio.sleep(2 * draw.random())

    async def fickle(self, draw):
        _, writer = await self.open()
        if draw.random() < 0.3:
            body = dict(model="deepseek-v3", flags={"hardware": "h200-sxm-8", "devices": 64})
            writer.write(self.post("/search", body))
        else:
            writer.write(self.post("/estimate", self.slider(draw)))
        await asyncio.sleep(0.2 * draw.random())
        writer.transport.abort()
        await asyncio.sleep(2 * PAUSE_S * draw.random())

    async def repeat(self, kind, draw):
        while self.going():
            try:
                await kind(draw)
            except (OSError, asyncio.IncompleteReadError, ConnectionError):
                await asyncio.sleep(0.2)

    async def watch(self):
        while self.going():
            self.memory.append(resident(self.server.process.pid))
            await asyncio.sleep(0.25)

    async def run(self, clients):
        kinds = [self.honest, self.slow, self.silent, self.nonsense, self.large, self.fickle]
        shares = [0.25, 0.2, 0.25, 0.1, LARGE_SHARE, 0.15]
        tasks = [self.watch()]
        for kind, share in zip(kinds, shares):
            for i in range(int(clients * share)):
                draw = random.Random(f"{kind.__name__} {i}")
                tasks.append(kind(draw) if kind == self.honest else self.repeat(kind, draw))
        await asyncio.wait_for(asyncio.gather(*tasks), self.end - time.monotonic() + 90)


def resident(process):
    """Bytes of a process and those it has started."""
    try:
        with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as file:
            size = next(int(line.split()[1]) << 10 for line in file if line.startswith("Pss:"))
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            return size + sum(map(resident, file.read().split()))
    except (OSError, StopIteration):
        return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--clients", type=int, default=200)
    args = parser.parse_args()
    # Servers that close are what is tested.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    with Server(args.bin) as server:
        # Models are imported when they are first asked for.
        for model in MODELS * 4:
            server.ask("POST", "/estimate", {"model": model})
        load = Load(server, args.seconds)
        asyncio.run(load.run(args.clients))
        code = server.stop()
    times = sorted(load.times)
    p50, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
    part = len(load.memory) // 4
    before, after = (statistics.median(load.memory[begin : begin + part]) for begin in (part, 3 * part))
    print(f"{len(times)} honest requests, {load.statuses}; median {p50 * 1e3:.0f} ms, p99 {p99 * 1e3:.0f} ms")
    print(f"memory {before / 2**20:.0f} MiB in the second quarter, {after / 2**20:.0f} MiB in the last, "
          f"at most {max(load.memory) / 2**20:.0f} MiB")  # fmt: skip
    checks = {
        "honest clients are answered": load.statuses.get(200, 0) >= 0.99 * len(times),
        "no worker failed": not any(status >= 500 for status in load.statuses),
        "p99 is below a second": p99 < 1,
        "memory is flat within 20 % and bodies": after <= 1.2 * before + args.clients * LARGE_SHARE * LARGE_BYTES,
        "memory has a bound": max(load.memory) < MOST_BYTES,
        "the server ends well": code == 0,
    }
    for name, good in checks.items():
        if not good:
            print("FAIL:", name)
    failed = sum(not good for good in checks.values())
    print(f"{len(checks) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
