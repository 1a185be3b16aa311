"""Fits the collective curves of hardware/systems to measured collectives.

A curve holds the time of one collective at every power of two of its buffer:
the measured times smoothed in the logarithm (weights 1, 4, 1), then made
monotone (pool adjacent violators). The buffer is the per-rank buffer of an
all-reduce, the result of an all-gather, the input of a reduce-scatter, and the
send buffer of one rank of an all-to-all: nccl-tests' size of each.

Serving engines reduce small buffers with a kernel of their own inside a CUDA
graph, so all-reduce curves are vLLM's, which fall back to NCCL by size;
everything else is NCCL's. The all-reduces of other engines are the
`implementations` of a tier, where the median over the sizes up to 2^24 bytes,
which engines reduce themselves, is more than 5 % from the curve that the tier
has for the group, or it has none.

The latency of the tier is the least all-gather between two devices, its
efficiency the share of the link that the largest all-gather of the largest
group reaches.

Exchanges of experts (expert_exchange.py) are all-to-alls of an implementation
where a curve by bytes holds for them.

Curves that are written are made of all rows. The report is of others: each
made of four fifths of the sizes, its errors those of the fifth kept apart
(kept_apart.py, by collective, devices and bytes), which it gives by

  t(b) = t(a) + (t(c) - t(a)) * (b - a) / (c - a)

between the nearest sizes a < b < c that it has, the time of a line of latency
and bytes / bandwidth (Thakur et al. (2005), section 3); below the least size it
is constant, beyond the largest in proportion to bytes, as lib/Cost/Route.cpp
has it.

Of nccl.csv, custom_allreduce.csv, moe_deepep.csv, moe_a2a.csv and
moe_alltoall_gb200.csv: measurements of ai-dynamo/aiconfigurator (Apache-2.0).
scripts/calibration/fit.py writes them.
"""

# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import csv
import math

import expert_exchange
import hardware_files as files
import kept_apart

SYSTEMS = {
    "A100_SXM": "a100-80gb-sxm-8",
    "H100_SXM": "h100-sxm-8",
    "H200_SXM": "h200-sxm-8",
    "B200_SXM": "b200-sxm-8",
    "B300_SXM": "b300-sxm-8",
    "GB200": "gb200-nvl72",
    "GB300": "gb300-nvl72",
    "L40S": "l40s-8",
    "RTX_PRO_6000": "rtx-pro-6000-server-8",
    "B60": "arc-pro-b60-8",
}
# Same links, no measurements: the curves of the relative hold.
RELATIVES = {
    "a100-40gb-sxm-8": "a100-80gb-sxm-8",
    "h100-96gb-8": "h100-sxm-8",
    "h20-8": "h200-sxm-8",
    "a100-80gb-sxm-8-opa": "a100-80gb-sxm-8",
    "gb200-nvl72-64": "gb200-nvl72",
    "gb300-nvl72-64": "gb300-nvl72",
}
# Other links: only latency and efficiency carry over.
LOOSE_RELATIVES = {
    "v100-32gb-sxm-8": "a100-80gb-sxm-8",
    "v100-32gb-sxm-16": "a100-80gb-sxm-8",
    "h800-sxm-8": "h100-sxm-8",
    "gh200-144gb-2": "h200-sxm-8",
    "mi300x-8": "h100-sxm-8",
    "mi325x-8": "h100-sxm-8",
    "mi355x-8": "b200-sxm-8",
    "h100-nvl-8": "l40s-8",
    "h100-pcie-8": "l40s-8",
    "a100-80gb-pcie-8": "l40s-8",
    "l4-8": "l40s-8",
    "rtx-4090-8": "l40s-8",
}
# Cards that NVIDIA's driver does not let write to each other: what they send
# goes through host memory.
NO_PEERS = ("rtx-4090-8",)
# Groups over PCIe that were measured on a broken host alone: of a server whose
# groups were measured, by how much longer pairs take.
PAIRS = {"l40s-8": "rtx-pro-6000-server-8"}
# Other engines by their runtime: measured kernels, of several the fastest.
IMPLEMENTATIONS = {
    "trtllm": ("TensorRT-LLM", ("TRTLLM", "TRTLLM_MNNVL_oneshot",
                                "TRTLLM_MNNVL_twoshot")),
    "sglang": ("SGLang", ("SGLang_CustomAllReduce_graph",)),
}
# Racks have groups that only a relative measured: rack -> relative, why.
WIDER = (
    ("gb200-nvl72", "gb300-nvl72", "the same links"),
    ("gb300-nvl72", "gb200-nvl72", "the same links"),
    ("gb200-nvl72", "b200-sxm-8", "the same generation of NVLink"),
    ("gb300-nvl72", "b300-sxm-8", "the same generation of NVLink"),
)
# At most median and 90th percentile of errors on sizes kept apart.
BARS = {"all_reduce": (0.05, 0.15), "all_to_all": (0.10, 0.30)}
# Copies of the rows of an earlier version.
VERSIONS = {("L40S", "trtllm/1.3.0rc20"): "1.0.0"}
NOISE = 0.05
OWN_LAST = 24
# A time that much longer than that of the next larger buffer is a slip.
SLIP = 1.5
OPERATIONS = {"all_gather": "all_gather", "reduce_scatter": "reduce_scatter",
              "alltoall": "all_to_all"}
KINDS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
FIRST = 10
# Known defects: a misconfigured run (206 GB/s where the link does 558), and a
# host whose second socket is behind a 2 GB/s path; its groups of four, of two
# pairs on different switches, reach 4.7 GB/s where pairs reach 19.4.
DEFECTS = {("GB200", "vLLM_custom_graph", 2)}
BROKEN_GROUPS = {("L40S", 4), ("L40S", 8)}
# What those four reach: their messages go through the host's memory.
HOST_PATH = ("L40S", 4)
# vLLM has no graphs there: each all-reduce waits for its launch.
EAGER = {"B60"}


def table(data, name):
    with open(data / name, encoding="utf-8", newline="") as file:
        yield from csv.DictReader(line for line in file
                                  if not line.startswith("#"))


def measurements(data):
    """gpu -> kind -> n -> (library, {log2 bytes: us})."""
    found = {}

    def add(gpu, kind, n, library, size, time):
        if (gpu, n) in BROKEN_GROUPS or size & (size - 1):
            return
        curves = found.setdefault(gpu, {}).setdefault(kind, {})
        curve = curves.setdefault(n, (library, {}))
        if curve[0] == library:
            curve[1].setdefault(size.bit_length() - 1, time)

    engines = list(table(data, "custom_allreduce.csv"))
    for wanted in ("vLLM_custom_graph", "TRTLLM", "vLLM_custom_eager"):
        for r in engines:
            n = int(r["num_gpus"])
            if wanted.endswith("eager") and r["gpu"] not in EAGER:
                continue
            if r["kernel"] != wanted or (r["gpu"], wanted, n) in DEFECTS:
                continue
            name, version = r["source"].split("/")
            name = {"vllm": "vLLM", "trtllm": "TensorRT-LLM"}[name]
            add(r["gpu"], "all_reduce", n, f"{name} {version} all-reduce",
                int(r["bytes"]), float(r["latency_us"]))
    for r in table(data, "nccl.csv"):
        if r["op"] in OPERATIONS and r["dtype"] == "half":
            add(r["gpu"], OPERATIONS[r["op"]], int(r["num_gpus"]),
                benchmark(r["nccl_version"]), int(r["bytes"]),
                float(r["latency_us"]))
    return found


def benchmark(version):
    return ("oneCCL " + version.removeprefix("oneccl-")
            if version.startswith("oneccl") else f"nccl-tests {version}")


def measured_implementations(data):
    """gpu -> runtime -> n -> (library, {log2 bytes: us})."""
    found = {}
    runtimes = {kernel: (runtime, title)
                for runtime, (title, kernels) in IMPLEMENTATIONS.items()
                for kernel in kernels}
    for r in table(data, "custom_allreduce.csv"):
        n, size, gpu = int(r["num_gpus"]), int(r["bytes"]), r["gpu"]
        if (r["kernel"] not in runtimes or (gpu, n) in BROKEN_GROUPS or
                size & (size - 1)):
            continue
        runtime, title = runtimes[r["kernel"]]
        version = VERSIONS.get((gpu, r["source"]), r["source"].split("/")[1])
        _, times = found.setdefault(gpu, {}).setdefault(
            runtime, {}).setdefault(n, (f"{title} {version} all-reduce", {}))
        at, time = size.bit_length() - 1, float(r["latency_us"])
        times[at] = min(time, times.get(at, time))
    return found


def without_slips(times):
    """A larger buffer never takes much less: where it does, the time is that
    of the larger."""
    made = dict(times)
    for at in sorted(made, reverse=True):
        if made[at] > SLIP * made.get(at + 1, made[at]):
            made[at] = made[at + 1]
    return made


def monotone(values):
    """The nearest non-decreasing sequence (least squares)."""
    blocks = []
    for value in values:
        blocks.append([value, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, m), (b, n) = blocks[-2:]
            blocks[-2:] = [[(a * m + b * n) / (m + n), m + n]]
    return [value for value, count in blocks for _ in range(count)]


def smooth(times, first=FIRST):
    """Microseconds at 2^first and every power after it."""
    last = max(times)
    logs = [math.log(times[i]) for i in range(first, last + 1)]
    inner = [(logs[i - 1] + 4 * logs[i] + logs[i + 1]) / 6
             for i in range(1, len(logs) - 1)]
    return [math.exp(x) for x in monotone([logs[0]] + inner + [logs[-1]])]


def curves_of(gpu, kinds):
    """The `collectives` of a tier."""
    made = {}
    for kind in KINDS:
        for n, (library, times) in sorted(kinds.get(kind, {}).items()):
            values = smooth(times)
            errors = sorted(abs(v / times[FIRST + i] - 1)
                            for i, v in enumerate(values))
            print(f"{gpu:12} {kind:15} {n:2} {library:32} "
                  f"{errors[len(errors) // 2]:7.3f} {errors[-1]:7.3f}")
            made.setdefault(kind, {})[str(n)] = {
                "first_log2_bytes": FIRST,
                "time_us": [files.rounded(v) for v in values],
                "source": {"kind": "measured", "reference":
                           f"{library} on {gpu.replace('_', ' ')}, "
                           "aiconfigurator systems data (Apache-2.0), "
                           "smoothed"},
            }
    return made


def distance(values, curve):
    """Median of |ratio - 1| of `values`, which begin at 2^FIRST, to `curve`."""
    first, times = curve["first_log2_bytes"], curve["time_us"]
    errors = sorted(
        abs(values[at - FIRST] / times[at - first] - 1)
        for at in range(max(first, FIRST), OWN_LAST + 1)
        if at - FIRST < len(values) and at - first < len(times))
    return errors[len(errors) // 2]


def add_implementations(gpu, runtimes, tier):
    """The all-reduces of other engines that differ from the tier's own."""
    made = {}
    for runtime in IMPLEMENTATIONS:
        for n, (library, times) in sorted(runtimes.get(runtime, {}).items()):
            values = smooth(without_slips(times))
            own = tier["collectives"]["all_reduce"].get(str(n))
            apart = distance(values, own) if own else math.inf
            print(f"{gpu:12} {runtime:12} {n:2} {library:32} {apart:7.3f} "
                  f"{'' if apart > NOISE else 'left out'}")
            if apart <= NOISE:
                continue
            made.setdefault(runtime, {}).setdefault("all_reduce", {})[
                str(n)] = {
                    "first_log2_bytes": FIRST,
                    "time_us": [files.rounded(v) for v in values],
                    "source": {"kind": "measured", "reference":
                               f"{library} on {gpu.replace('_', ' ')}, "
                               "aiconfigurator systems data (Apache-2.0), "
                               "smoothed"}}
    set_implementations(tier, made)


def add_exchanges(gpu, runtimes, tier):
    """The all-to-alls of engines within the tier: across nodes it counts how
    many of a group's devices are on each, which a system file does not say."""
    for runtime, groups in runtimes.items():
        groups = {n: made for n, made in groups.items() if n <= tier["domain"]}
        if not groups:
            continue
        made = tier.setdefault("implementations", {}).setdefault(runtime, {})
        made["all_to_all"] = {
            str(n): {
                "first_log2_bytes": min(curve),
                "time_us": [files.rounded(v) for v in monotone(curve.values())],
                "source": {"kind": "measured", "reference":
                           f"{library}, mean of dispatch and combine, on "
                           f"{gpu.replace('_', ' ')}, aiconfigurator systems "
                           "data (Apache-2.0), fitted"}}
            for n, (library, curve) in sorted(groups.items())}


def set_implementations(tier, made):
    tier.pop("implementations", None)
    if made:
        tier["implementations"] = made


def as_relative(implementations, reference):
    """The curves with the source that says whose they are."""
    source = {"kind": "derived", "reference": reference}
    return {runtime: {kind: {n: {**curve, "source": source}
                             for n, curve in groups.items()}
                      for kind, groups in kinds.items()}
            for runtime, kinds in implementations.items()}


def set_figure(tier, field, value, kind, reference):
    tier[field] = {"value": files.rounded(value), "unit": tier[field]["unit"],
                   "source": {"kind": kind, "reference": reference}}


def fill_measured(gpu, kinds, tier):
    tier["collectives"] = curves_of(gpu, kinds)
    pair = kinds["all_gather"][2]
    set_figure(tier, "latency", min(pair[1].values()), "measured",
               f"least all-gather of two devices, {pair[0]} on "
               f"{gpu.replace('_', ' ')}, aiconfigurator systems data "
               "(Apache-2.0)")
    n = max(kinds["all_gather"])
    library, times = kinds["all_gather"][n]
    last = max(times)
    reached = 2 ** last * (n - 1) / n / (times[last] * 1e-6)
    set_figure(tier, "efficiency", reached / tier["bandwidth"]["value"],
               "measured", f"all-gather of {2 ** last} bytes over {n} devices, "
               f"{library} on {gpu.replace('_', ' ')}, aiconfigurator systems "
               "data (Apache-2.0)")


def scale_pairs(tier, relative, name):
    """Larger groups: those of `relative`, times what a pair takes of a pair's
    time there, size by size; the efficiency of the largest."""
    for kind, groups in relative["collectives"].items():
        own = tier["collectives"][kind]
        pair, other = own["2"]["time_us"], groups["2"]["time_us"]
        for n, curve in groups.items():
            own.setdefault(n, {
                "first_log2_bytes": curve["first_log2_bytes"],
                "time_us": [files.rounded(time) for time in monotone(
                    [time * mine / theirs for time, mine, theirs in
                     zip(curve["time_us"], pair, other)])],
                "source": {"kind": "derived", "reference":
                           f"as {name}, times what a pair takes of a pair's "
                           "time there: groups of more were measured on a host "
                           "whose second socket is behind a 2 GB/s path"}})
    n, curve = max(tier["collectives"]["all_gather"].items(),
                   key=lambda one: int(one[0]))
    size = 2 ** (curve["first_log2_bytes"] + len(curve["time_us"]) - 1)
    reached = size * (int(n) - 1) / int(n) / (curve["time_us"][-1] * 1e-6)
    set_figure(tier, "efficiency", reached / tier["bandwidth"]["value"],
               "derived", f"all-gather of {size} bytes over {n} devices, by the "
               "curve")


def host_path(data, tier):
    """The efficiency of cards that reach each other through host memory."""
    times = {int(r["bytes"]): float(r["latency_us"])
             for r in table(data, "nccl.csv")
             if (r["gpu"], int(r["num_gpus"])) == HOST_PATH
             and r["op"] == "all_gather" and r["dtype"] == "half"}
    size, n = max(times), HOST_PATH[1]
    reached = size * (n - 1) / n / (times[size] * 1e-6)
    set_figure(tier, "efficiency", reached / tier["bandwidth"]["value"],
               "derived", f"all-gather of {size} bytes over {n} L40S that reach "
               "each other through host memory, nccl-tests, aiconfigurator "
               "systems data (Apache-2.0); NVIDIA's driver joins no GeForce "
               "cards of this generation")


def borrow(tier, relative, name, curves):
    for field in ("latency", "efficiency"):
        set_figure(tier, field, relative[field]["value"], "derived",
                   f"as {name}, the nearest system with measurements")
    tier.pop("collectives", None)
    tier.pop("implementations", None)
    if not curves:
        return
    tier["collectives"] = {
        kind: {n: {**curve, "source": {
            "kind": "derived", "reference": f"as {name}: the same links"}}
            for n, curve in groups.items()}
        for kind, groups in relative["collectives"].items()}
    set_implementations(tier, as_relative(
        relative.get("implementations", {}), f"as {name}: the same links"))


def widen(tier, relative, name, why):
    """Groups that only a system with the same kind of link measured."""
    source = {"kind": "derived", "reference": f"as {name}: {why}"}
    for kind, groups in relative["collectives"].items():
        own = tier["collectives"][kind]
        for n, curve in groups.items():
            if n not in own:
                own[n] = {**curve, "source": source}
    for runtime, kinds in as_relative(relative["implementations"],
                                      source["reference"]).items():
        for kind, groups in kinds.items():
            own = tier["implementations"].setdefault(runtime, {}).setdefault(
                kind, {})
            for n, curve in groups.items():
                # Where the tier measured the group, it was left out.
                if int(n) > max(map(int, own), default=0):
                    own.setdefault(n, curve)


def fit_all(data, library):
    """Sets the first tier of each system of `library`."""
    tier = {name: system["tiers"][0] for name, system in library.items()}
    print(f"{'system':12} {'collective':15} {'n':>2} {'library':32} "
          f"{'median':>7} {'most':>7}  change by smoothing")
    found = measurements(data)
    implementations = measured_implementations(data)
    exchanges = expert_exchange.implementations(data)
    for gpu, name in SYSTEMS.items():
        fill_measured(gpu, found[gpu], tier[name])
        add_implementations(gpu, implementations.get(gpu, {}), tier[name])
        add_exchanges(gpu, exchanges.get(gpu, {}), tier[name])
    for name, relative in PAIRS.items():
        scale_pairs(tier[name], tier[relative], relative)
    for name, relative, why in WIDER:
        widen(tier[name], tier[relative], relative, why)
    for names, curves in ((RELATIVES, True), (LOOSE_RELATIVES, False)):
        for name, relative in names.items():
            borrow(tier[name], tier[relative], relative, curves)
    for name in NO_PEERS:
        host_path(data, tier[name])


def all_curves(data):
    """(collective, gpu, backend, version, n) -> {log2 bytes: us}."""
    found = {}

    def add(r, kind, *backend):
        key = kind, r["gpu"], *backend, int(r["num_gpus"])
        size = int(r["bytes"])
        if (r["gpu"], key[-1]) not in BROKEN_GROUPS and not size & (size - 1):
            found.setdefault(key, {}).setdefault(size.bit_length() - 1,
                                                 float(r["latency_us"]))

    for r in table(data, "custom_allreduce.csv"):
        if (r["gpu"], r["kernel"], int(r["num_gpus"])) not in DEFECTS:
            add(r, "all_reduce", r["kernel"], r["source"])
    for r in table(data, "nccl.csv"):
        if r["dtype"] == "half":
            add(r, OPERATIONS.get(r["op"], r["op"]), "NCCL"
                if not r["nccl_version"].startswith("oneccl") else "oneCCL",
                r["nccl_version"])
    return found


def at_size(times, size):
    """Microseconds at 2^size of a curve with gaps."""
    below = max((at for at in times if at <= size), default=None)
    above = min((at for at in times if at >= size), default=None)
    if below is None:
        return times[above]
    if above is None:
        return times[below] * 2 ** (size - below)
    if below == above:
        return times[below]
    share = (2 ** size - 2 ** below) / (2 ** above - 2 ** below)
    return times[below] + share * (times[above] - times[below])


def errors_apart(kind, n, times):
    """Errors on the sizes kept apart of a curve of the others."""
    apart = {at for at in times if kept_apart.is_kept(kind, n, 2 ** at)}
    rest = {at: time for at, time in times.items() if at not in apart}
    first, last = min(rest), max(rest)
    whole = {at: at_size(rest, at) for at in range(first, last + 1)}
    made = dict(enumerate(smooth(whole, first), first))
    return [abs(at_size(made, at) / times[at] - 1) for at in sorted(apart)]


def verdict(kind, errors):
    if kind not in BARS:
        return ""
    met = all(error <= most for error, most in
              zip(kept_apart.quantiles(errors), BARS[kind]))
    return "met" if met else "missed"


def report(data):
    print("Errors in percent on sizes kept apart, of curves of the other four "
          "fifths\n"
          f"{'collective':15} {'system':12} {'backend':29} {'apart':>5} "
          f"{'median':>7} {'p90':>7}  bar")
    by_backend, by_kind = {}, {}
    for (kind, gpu, backend, _, n), times in sorted(all_curves(data).items()):
        errors = errors_apart(kind, n, times)
        by_backend.setdefault((kind, gpu, backend), []).extend(errors)
        by_kind.setdefault((kind, "all", backend), []).extend(errors)
        by_kind.setdefault((kind, "all", "all"), []).extend(errors)
    for (kind, gpu, backend), errors in [*by_backend.items(),
                                         *sorted(by_kind.items())]:
        line = (f"{kind:15} {gpu:12} {backend:29} {len(errors):5} "
                f"{kept_apart.percents(errors)}  {verdict(kind, errors)}")
        print(line.rstrip())
    print()


def report_exchanges(data):
    curves = {(gpu, n): dict(enumerate(smooth(times), FIRST))
              for gpu, kinds in measurements(data).items()
              for n, (_, times) in kinds.get("all_to_all", {}).items()}
    expert_exchange.report(data, curves)
