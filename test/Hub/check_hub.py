#!/usr/bin/env python3
# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports models from a hub that fails in every way, and checks the exit code,
the message, what is left in the cache, and that the token is seen by nobody
but the hub itself.

usage: check_hub.py FOLDER [CASE...]
"""

import concurrent.futures
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time

import server

TOKEN = "hf_SecretSecretSecretSecret"
FOLDER = os.path.abspath(sys.argv[1])


class Failure(Exception):
    pass


class Run:
    """One run of autopar-translate with a home of its own."""

    def __init__(self, name, argument, *flags, env={}, home=None):
        self.home = home or os.path.join(FOLDER, "homes", name)
        os.makedirs(self.home, exist_ok=True)
        self.command = ["autopar-translate", "--import-hf", argument, *flags]
        kept = {key: os.environ[key] for key in ("PATH", "AUTOPAR_DATA")}
        self.env = kept | {
            "HOME": self.home,
            "HF_ENDPOINT": f"https://localhost:{PORT}",
            "HF_TOKEN": TOKEN,
            "CURL_CA_BUNDLE": os.path.join(FOLDER, "cert.pem"),
            "AUTOPAR_HTTP_TIMEOUT": "20",
            "no_proxy": "*",
        }
        self.env |= env
        self.env = {key: value for key, value in self.env.items() if value is not None}

    def finish(self):
        done = subprocess.run(self.command, env=self.env, capture_output=True, text=True, timeout=60)
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        if TOKEN in self.out + self.err:
            raise Failure(f"the token is in the output: {self.err}")
        return self

    def files(self):
        found = []
        for folder, _, names in os.walk(self.home):
            found += [os.path.relpath(os.path.join(folder, name), self.home) for name in names]
        return sorted(found)

    def imports(self):
        self.finish()
        if self.code != 0 or "module @" not in self.out or self.err:
            raise Failure(f"expected a model, found {self.code}: {self.err}")
        return self

    def fails(self, *patterns):
        self.finish()
        for pattern in ("^error: ", *patterns):
            if self.code != 1 or self.out or not re.search(pattern, self.err):
                raise Failure(f"expected 1 and /{pattern}/, found {self.code}: {self.err}")
        if any(not name.startswith("own") for name in self.files()):
            raise Failure(f"left {self.files()}")
        return self


PLACE = ".cache/autopar/models--org--"


def expect(what, found, expected):
    if found != expected:
        raise Failure(f"{what}: expected {expected}, found {found}")


def of_org(name, **more):
    return Run(name, f"org/{name}", **more)


# What answers, and what the message must say.
FAILURES = {
    "unauthorized": [r"https://localhost:\d+/org/unauthorized/resolve/main/config.json: access denied \(HTTP 401\)",
                     r"note: the token may not read it: accept the licence at https://localhost:\d+/org/unauthorized, or set HF_TOKEN"],
    "forbidden": [r"access denied \(HTTP 403\)", "accept the licence"],
    "missing": [r'no model org/missing with a config.json at revision "main" \(HTTP 404\)',
                r"note: check the name and the revision at https://localhost"],
    "teapot": ["the server answers HTTP 418"],
    "busy": ["the server answers HTTP 429", "tried 3 times; try again later"],
    "busy_long": ["the server answers HTTP 429 and asks to wait 86400 s", "gave up after 20 s"],
    "broken": ["the server answers HTTP 500", "tried 3 times"],
    "truncated": ["cannot download: .*bytes remaining", "tried 3 times"],
    "html": [r'not a JSON object, but begins "<html>\\x1b\[31m\\x0d\\x0aBearer \*\*\*</html>"', "sign-in page"],
    "list": [r'begins "\[1, 2\]"'],
    "empty": ['begins ""'],
    "trouble": [r'/org/trouble/resolve/main/config.json: the answer has neither "model_type" nor "architectures", '
                r'but begins "\{.*"try again", "you": "Bearer \*\*\*', "note: it is not kept"],
    "loop": ["more than 5 redirects"],
    "long_chain": ["more than 5 redirects"],
    "plain": [r"redirects to http://localhost:\d+/good: not an https:// address"],
    "local_file": ["redirects to file:///etc/hostname: not an https:// address"],
    "with_user": [r"redirects to https://localhost:\d+: an address with a user name or password"],
    "nowhere": ["the server answers HTTP 302"],
    "large": ["larger than 16,777,216 bytes"],
    "endless": ["larger than 16,777,216 bytes"],
    "bomb": [r'not a JSON object, but begins "\\x1f\\x8b'],
    "quant_broken": [r'quantize_config.json: the answer is not a JSON object, but begins "<html>"'],
}  # fmt: skip


def check_failure(name):
    of_org(name).fails(*FAILURES[name])


def case_timeouts():
    for name in ("silent", "slow"):
        start = time.monotonic()
        of_org(name, env={"AUTOPAR_HTTP_TIMEOUT": "1.5"}).fails("cannot download: .*timed out")
        if time.monotonic() - start > 10:
            raise Failure("the time-out took too long")
    for text in ("0", "-1", "nan", "1e9", "soon"):
        Run("timeouts", "org/good", env={"AUTOPAR_HTTP_TIMEOUT": text}).fails("AUTOPAR_HTTP_TIMEOUT: expected seconds")


def case_recovery():
    for name in ("busy_once", "broken_once", "dropped_once"):
        of_org(name).imports()


def case_good():
    run = of_org("good").imports()
    if 'module @good' not in run.out:
        raise Failure(f"the model is not called good: {run.out[:80]}")
    expect("cache", run.files(), [f"{PLACE}good/refs/main", f"{PLACE}good/snapshots/{server.COMMIT}/config.json"])
    # From here on without a network.
    gone = {"HF_ENDPOINT": "https://localhost:1"}
    Run("", "org/good", env=gone, home=run.home).imports()
    Run("", f"org/good@{server.COMMIT}", "--offline", home=run.home).imports()
    other = Run("", "org/good", env=gone | {"AUTOPAR_CACHE": os.path.join(run.home, ".cache/autopar")},
                home=os.path.join(FOLDER, "homes", "good2")).imports()
    expect("cache of the other", other.files(), [])
    Run("", "org/good", env={"XDG_CACHE_HOME": os.path.join(run.home, ".cache")} | gone, home=other.home).imports()


def case_revisions():
    run = Run("revisions", "org/good@v1").imports()
    Run("", "org/good", "--revision=refs/pr/1", home=run.home).imports()
    commit = f"{PLACE}good/snapshots/{server.COMMIT}/config.json"
    expect("cache", run.files(), [f"{PLACE}good/refs/refs/pr/1", f"{PLACE}good/refs/v1", commit])
    Run("", "org/good", "--revision=refs/pr/1", "--offline", home=run.home).imports()
    nameless = Run("nameless", "org/nameless@refs/pr/1").imports()
    Run("", "org/nameless@refs/pr/1", "--offline", home=nameless.home).imports()
    Run("r1", "org/good@v2").fails(r'at revision "v2" \(HTTP 404\)')
    Run("r2", "org/good@v1", "--revision=v2").fails('two revisions of org/good: "v1" and "v2"')
    Run("r3", "llama-3.1-8b", "--revision=v2").fails("a revision is that of a model on the hub")


def vocabulary(run):
    """The rows of the embedding, of a model that `changes`."""
    return max(int(rows) for rows in re.findall(r"tensor<(\d+)x8xbf16", run.out))


def age(run, days):
    """Makes all that a cache has so old."""
    for name in run.files():
        then = time.time() - days * 86400
        os.utime(os.path.join(run.home, name), (then, then))


def case_refresh():
    """What a branch stands for is asked once a day, and when the user says so;
    a commit stays what it is."""
    run = of_org("changes").imports()
    again = lambda *flags, at="", env={}: vocabulary(Run("", "org/changes" + at, *flags, home=run.home, env=env).imports())
    expect("first", vocabulary(run), 32)
    expect("the same hour", again(), 32)
    expect("refreshed", again("--refresh"), 64)
    expect("kept", again(), 64)
    age(run, 0.9)
    expect("the same day", again(), 64)
    age(run, 1.1)
    expect("offline", again("--offline"), 64)
    expect("without a hub", again(env={"HF_ENDPOINT": "https://localhost:1"}), 64)
    expect("the next day", again(), 96)
    age(run, 400)
    expect("a commit", again(at=f"@{server.COMMIT[:-1]}1"), 32)
    both = Run("", "org/changes", "--refresh", "--offline", home=run.home).finish()
    expect("both", (both.code, "no network is to be used, and the hub is to be asked" in both.err), (1, True))


def case_breaks():
    """Trouble does not replace what is there."""
    run = of_org("breaks").imports()
    before = run.files()
    refreshed = Run("", "org/breaks", "--refresh", home=run.home).finish()
    expect("refreshed", (refreshed.code, "try again" in refreshed.err), (1, True))
    age(run, 2)
    Run("", "org/breaks", home=run.home).imports()
    expect("files", run.files(), before)


def case_draft():
    """A type without a family imports from the header of its checkpoint."""
    run = of_org("newcomer").imports()
    if '"\\22newcomer\\22 is a draft from tensors (21 of 21 tensors known)' not in run.out:
        raise Failure(f"no draft: {run.out[:300]}")
    expect("cache", run.files(), [f"{PLACE}newcomer/refs/main", f"{PLACE}newcomer/snapshots/{server.COMMIT}/config.json"])
    offline = Run("", "org/newcomer", "--offline", home=run.home).finish()
    expect("offline", (offline.code, "a draft is made of its tensors" in offline.err), (1, True))


def case_quantized():
    run = of_org("quantized").imports()
    if f"{PLACE}quantized/snapshots/{server.COMMIT}/hf_quant_config.json" not in run.files():
        raise Failure(f"no hf_quant_config.json: {run.files()}")


def case_hub_cache():
    """A cache as huggingface_hub makes it: links to blobs."""
    home = os.path.join(FOLDER, "homes", "hub")
    for variable, place in (("HF_HUB_CACHE", "own/x"), ("HF_HOME", "own/y/hub"), (None, ".cache/huggingface/hub")):
        folder = os.path.join(home, place, "models--org--cached")
        snapshot = os.path.join(folder, "snapshots", server.COMMIT)
        for part in ("refs", "blobs"):
            os.makedirs(os.path.join(folder, part))
        os.makedirs(snapshot)
        with open(os.path.join(folder, "blobs", "b"), "wb") as file:
            file.write(server.CONFIG)
        with open(os.path.join(folder, "refs", "main"), "w") as file:
            file.write(server.COMMIT)
        os.symlink("../../blobs/b", os.path.join(snapshot, "config.json"))
        env = {variable: os.path.join(home, place.removesuffix("/hub"))} if variable else {}
        for argument in ("org/cached", f"org/cached@{server.COMMIT}"):
            run = Run("hub", argument, "--offline", env=env).imports()
            if "module @cached" not in run.out:
                raise Failure(f"the model is not called cached: {run.out[:80]}")
        # A reference that leads out of the cache is none.
        with open(os.path.join(folder, "refs", "bad"), "w") as file:
            file.write("../snapshots/" + server.COMMIT)
        Run("hub", "org/cached@bad", "--offline", env=env).finish()
        shutil.rmtree(folder)


def case_offline():
    note = r"looked in .*/.cache/huggingface/hub/models--org--good and .*/.cache/autopar/models--org--good"
    Run("offline", "org/good", "--offline").fails("no network is to be used", note)
    for text in ("1", "ON", "true"):
        Run("offline", "org/good", env={"HF_HUB_OFFLINE": text}).fails("no network is to be used", note)
    Run("online", "org/good", env={"HF_HUB_OFFLINE": "0"}).imports()
    unreachable = {"HF_ENDPOINT": "https://localhost:1"}
    Run("nobody", "org/good", env=unreachable).fails("cannot download: ", "without a network: ")


def case_names():
    Run("n1", "org/na me").fails('"org/na me" is neither a path, nor a bundled model, nor a name on the hub')
    for bad in ("org/..", "org/a..b", "org/name/more", "org/-x", "org--x/y", "org/x" * 50, "org/\x01", "org/", "org/x\n"):
        Run("n2", bad).fails("is neither a path")
    for bad in ("a b", "../main", "a//b", "/a", "a/", "", "x" * 300, "a\nb"):
        Run("n3", "org/name@" + bad).fails("is no revision")
    Run("n4", "llama-3.1-8").fails('unknown model "llama-3.1-8", did you mean "llama-3.1-8b"', "org/name on the Hugging Face hub")
    Run("n5", "").fails('unknown model ""')
    for path in ("./org/name", "/org/name", "../x", "org/config.json"):
        Run("n6", path).fails("cannot open: No such file or directory")
    Run("n7", "llama-3.1-8b").imports()


def case_token():
    denied = of_org("unauthorized", env={"HF_TOKEN": None})
    denied.fails(r"a model that is gated or private needs HF_TOKEN, of an account that has accepted the licence at https")
    path = os.path.join(FOLDER, "token")
    with open(path, "w") as file:
        file.write(TOKEN + "\n")
    Run("t1", "org/html", env={"HF_TOKEN": None, "HF_TOKEN_PATH": path}).fails(r"Bearer \*\*\*")
    Run("t2", "org/html", env={"HF_TOKEN": "", "HF_HOME": FOLDER}).fails(r"Bearer \*\*\*")
    Run("t3", "org/good", env={"HF_TOKEN": TOKEN + "\r\nX-Evil: 1"}).fails("HF_TOKEN: this is no token")


def case_endpoint():
    for bad in (f"http://localhost:{PORT}", "localhost", "ftp://localhost", "https://", "x", "https:///", "///"):
        Run("e1", "org/good", env={"HF_ENDPOINT": bad}).fails("HF_ENDPOINT: not an https:// address")
    user = {"HF_ENDPOINT": f"https://u:{TOKEN}@localhost:{PORT}"}
    Run("e2", "org/good", env=user).fails("HF_ENDPOINT: an address with a user name or password")
    Run("e3", "org/good", env={"HF_ENDPOINT": f"https://localhost:{PORT}///"}).imports()


def case_certificate():
    Run("c1", "org/good", env={"CURL_CA_BUNDLE": None}).fails("cannot download: SSL certificate problem", "CURL_CA_BUNDLE")
    Run("c2", "org/good", env={"CURL_CA_BUNDLE": "/nowhere"}).fails("cannot download: ", "CURL_CA_BUNDLE")
    trusted = {"CURL_CA_BUNDLE": None, "SSL_CERT_FILE": os.path.join(FOLDER, "cert.pem")}
    Run("c3", "org/good", env=trusted).imports()
    # The certificate is for localhost and 127.0.0.1; this leads there, too.
    Run("c4", "org/good", env={"HF_ENDPOINT": f"https://other.localhost:{PORT}"}).fails("SSL: no alternative certificate")


def case_redirects():
    for name in ("elsewhere", "relative", "there_and_back", "chain"):
        of_org(name).imports()


def case_unwritable():
    Run("own", "org/good", env={"AUTOPAR_CACHE": "/proc/nowhere"}).fails("cannot make this folder", "AUTOPAR_CACHE names the folder")


def case_interrupted():
    run = Run("interrupted", "org/slow")
    process = subprocess.Popen(run.command, env=run.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(1.5)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)
    expect("exit", process.returncode != 0, True)
    expect("files", run.files(), [])


def case_progress():
    run = Run("progress", "org/trickle")
    terminal, theirs = pty.openpty()
    subprocess.run(run.command, env=run.env, stdout=subprocess.DEVNULL, stderr=theirs, timeout=60, check=True)
    os.close(theirs)
    text = os.read(terminal, 1 << 16).decode()
    if not re.search(r"/org/trickle/resolve/main/config.json: \d+ B of \d+ B", text) or not text.endswith("\r\x1b[K"):
        raise Failure(f"found {text!r}")


def check_tokens():
    """Only the hub's own host has seen the token, and has seen it."""
    hosts = {host for host, _, token in server.Request.log if token}
    expect("hosts that saw the token", hosts, {"localhost"})
    others = [path for host, path, _ in server.Request.log if host == "127.0.0.1"]
    expect("requests of another host", sorted(set(others)), ["/back", "/good"])
    # Having been elsewhere, a request comes back without it.
    came_back = [token for host, path, token in server.Request.log if (host, path) == ("localhost", "/good")]
    expect("tokens of who came back", came_back, [""])
    tries = server.Request.tries
    for name, count in {"broken": 3, "busy": 3, "truncated": 3, "busy_long": 1, "slow": 2, "html": 3}.items():
        expect(f"requests for {name}", tries[f"/org/{name}/resolve/main/config.json"], count)


def main():
    global PORT
    shutil.rmtree(FOLDER, ignore_errors=True)
    PORT = server.start(FOLDER)
    cases = {name: (check_failure, name) for name in FAILURES}
    cases |= {name[5:]: (function,) for name, function in globals().items() if name.startswith("case_")}
    chosen = sys.argv[2:] or list(cases)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        runs = {name: pool.submit(*cases[name]) for name in chosen}
    for name, run in runs.items():
        if run.exception():
            failed += 1
            print(f"{name}: {run.exception()!r}")
    if not sys.argv[2:]:
        check_tokens()
    print(f"{len(chosen) - failed} of {len(chosen)} cases pass")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
