# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What flag_effects.py gives each flag, and by what its effect is seen. A new
flag needs a row in the table of its kind (STEP, SERVICE, SPLITS, ...)."""

import copy
import dataclasses
import shlex

from flag_questions import QUESTIONS, is_service

# By what the effect of a flag is seen: a figure of the JSON report, any byte of
# that, any byte of the text, a file; or it promises to change nothing.
NUMBERS, STATED, TEXT, FILE, SAME = "numbers", "stated", "text", "file", "same"

# Parts of reports that repeat what was asked.
ECHOES = {"plan", "workload", "requests", "assumptions", "mesh", "machine", "flags", "values", "label", "seed", "space",
          "goal", "batch", "prompt", "context", "hardware", "runtime", "nodes", "limits", "axes", "batches",
          "max_step_time_us"}  # fmt: skip


class Row:
    """`value` is the text behind `=` (None of a flag without one), or one for
    each question in a dict, where "" is for all others. `beside` lists further
    flags that both commands have then, for a flag that needs them; `drops` are
    flags that the question loses where this one is given, and beside others in
    both commands. `names` are other words by which an error may name the flag.
    `file` is what a flag changes that only names a part of it; `bounds` are
    flags that make the answer quick. A flag that `ranks` plans has nothing to do
    where none fits, and one that `verifies` where bounds exclude none. `unseen` says of questions why no column of
    a table shows the effect: the command `shown` does then. `elsewhere` is the
    test of a flag that no question here can use."""

    def __init__(self, value=None, beside=(), seen=NUMBERS, names=(), drops=(), elsewhere=None, file=None, bounds=(),
                 ranks=False, verifies=False):
        self.values = value if isinstance(value, dict) else {"": value}
        self.beside = [shlex.split(words) for words in beside]
        self.seen, self.names, self.drops, self.elsewhere = seen, names, drops, elsewhere
        self.file, self.bounds, self.ranks, self.verifies = file, list(bounds), ranks, verifies
        self.unseen, self.shown = {}, "estimate"

    def flag(self, name, question):
        value = self.values.get(question, self.values.get(""))
        return [f"--{name}" if value is None else f"--{name}={value}", *self.bounds]

    def in_tables(self, unseen, shown="estimate"):
        """This row where tables do not show the effect on some questions."""
        row = copy.copy(self)
        row.unseen, row.shown = unseen, shown
        return row


SHARDS = ["--shard-tp", "--shard-dp", "--shard-ep", "--stage-pp", "--fsdp"]

STEP = {
    "batch": Row({"": "8", "training of experts": "64", "training with fsdp2": "32", "training with megatron": "64"}),
    "prompt": Row({"": "1024", "speech": "64", "speech served": "4"}),
    "context": Row({"": "2048", "speech": "256", "images": "4096", "dense prefill": "8192"}),
    "prefill-chunk": Row({"": "512", "speech": "16", "speech served": "2"}, names=("prefill_chunk",)),
    "encoder-tokens": Row({"": "4096", "speech": "1000", "speech served": "1000"}),
    "cross-tokens": Row("1000"),
    "phase": Row({"": "decode", "dense decode": "prefill", "moe decode": "prefill", "mla decode": "prefill",
                  "hybrid decode": "prefill", "service by rate": "prefill", "service by concurrency": "prefill",
                  "images served": "prefill", "speech served": "prefill", "drafts served": "prefill"},
                 names=("decode",)),
}  # fmt: skip
SERVICE = {
    "rate": Row("3", names=("requests",), drops=["--concurrency"]),
    "concurrency": Row("7", names=("requests",), drops=["--rate"]),
    "output-tokens": Row("90", names=("requests",)),
    "prefix-hits": Row("0.5", names=("requests",)),
    "acceptance": Row("0.6", names=("requests",)),
    "draft-cost": Row("0.2", ["--acceptance=0.8"], names=("requests", "draft", "acceptance")),
    "sla": Row("ttft:50ms,tpot:5ms", names=("requests",)),
    "simulate": Row("200", names=("simulated",)),
    "seed": Row("7", ["--simulate=200"]),
    "requests": Row("requests.csv", drops=["--rate", "--prompt", "--output-tokens"]),
    "requests-output": Row("served.jsonl", ["--simulate=200"], seen=FILE),
}
SPLITS = {
    "shard-tp": Row({"": "4", "service by concurrency": "2", "training with megatron": "2", "dense decode": "4",
                     "hybrid decode": "4", "mla decode": "2", "drafts served": "4"}, names=("devices",)),
    "shard-sp": Row(names=("sequence",)),
    "shard-dp": Row({"": "2", "training with megatron": "2", "moe decode": "4"}, names=("devices",)),
    "fsdp": Row({"": None, "training with fsdp2": "false"}),
    "shard-fsdp": Row({"": "4", "training with megatron": "2"}, ["--fsdp"]),
    "shard-cp": Row("2", names=("devices",)),
    "cp-kind": Row("all-to-all", ["--shard-cp=2"], names=("context_kind",)),
    "shard-dcp": Row("2"),
    "shard-attention-tp": Row({"": "1", "service by concurrency": "2"}, names=("attention_tp",)),
    "mesh": Row("tp=4,dp=2", names=("axis", "devices"), drops=SHARDS),
    "map": Row("tp,dp"),
    "plan": Row("memory-utilization=0.7", names=("memory_utilization", "memory-utilization")),
    "from": Row("serve.sh", names=("memory_utilization", "memory-utilization")),
}  # fmt: skip
EXPERTS = {
    "shard-ep": Row({"": "2", "moe decode": "8", "mla decode": "8", "training of experts": "4"}),
    "shard-etp": Row("2"),
    "expert-load": Row("zipf:1.0", names=("experts",)),
    "expert-trace": Row({"": "trace.jsonl", "mla decode": "trace-deepseek.jsonl", "training of experts": "trace-glm.jsonl"},
                        names=("experts",)),
    "place-experts": Row("round_robin", ["--expert-load=zipf:1.0"], names=("experts",)),
    "redundant-experts": Row("16", ["--expert-load=zipf:1.0"], names=("experts",)),
    "expert-groups-in-node": Row(None, ["--expert-load=zipf:1.0"], names=("experts", "groups")),
    "dispatch-by-node": Row(names=("dispatch_by_node",)),
    "dispatch-dtype": Row("fp8", names=("dispatch_dtype",)),
}
PIPELINE = {
    "stage-pp": Row("2", names=("stages", "pp", "devices")),
    "stages": Row({"": "0-9,10-31", "training with megatron": "0-18,19-39,40-59,60-79"}, ["--stage-pp=2"]),
    "microbatches": Row("4", ["--stage-pp=2"]),
    "schedule": Row("gpipe", ["--stage-pp=2"]),
    "interleave": Row("2", ["--stage-pp=2"], names=("interleaving",)),
    "trace": Row("timeline.json", ["--stage-pp=2", "--simulate=200"], seen=FILE),
}
TRAINING = {
    "micro-batch": Row("2", names=("microbatches",)),
    "recompute": Row("full"),
    "zero": Row("1"),
    "optimizer": Row("sgd"),
    "gradient-format": Row("bf16"),
    "master-format": Row("bf16"),
    "state-format": Row("bf16"),
    "product-format": Row("fp8"),
    "dropout": Row("0.1"),
    "unfused-attention": Row(),
    "loss": Row({"": "fused", "training with megatron": "eager"}),
    "loss-chunks": Row("4"),
    "expert-capacity-factor": Row("1.25"),
    "pad-experts-to-capacity": Row(None, ["--expert-capacity-factor=2"]),
    "mtp-layers": Row("1"),
}
MACHINE = {
    "dtype": Row("fp32"),
    "kv-format": Row("fp8", names=("kv_dtype",)),
    "kv-dtype": Row("fp8", names=("kv-format",)),
    # Nodes that a plan does not use change no figure: reports state them.
    "nodes": Row({"": "3", "dense decode": "4", "moe decode": "8", "mla decode": "9", "training with fsdp2": "5"},
                 seen=STATED),
    "price": Row("9.5"),
    "runtime": Row({"": "sglang", "training with fsdp2": "megatron", "training with megatron": "nemo",
                    "training of experts": "nemo"}),
    "memory-utilization": Row("0.8", names=("memory_utilization",)),
    "gpu-memory-utilization": Row("0.8", names=("memory_utilization",)),
    "max-num-seqs": Row("2", names=("max_sequences", "max_num_seqs")),
    "max-num-batched-tokens": Row({"": "512", "speech": "16", "speech served": "2"}, names=("prefill_chunk", "prefill-chunk")),
    "enforce-eager": Row(names=("eager",)),
    "set": Row({"": "chips.h100-sxm.memory_bandwidth=2e12", "mla decode": "chips.h200-sxm.memory_bandwidth=2e12",
                "drafts served": "chips.h200-sxm.memory_bandwidth=2e12"}),
    "calibration": Row({"": "h100.json", "mla decode": "h200.json", "drafts served": "h200.json"}),
    "hardware": Row("b200-sxm-8"),
}  # fmt: skip
SOURCE = {
    "revision": Row("main", names=("hub",), elsewhere="test/Hub/check_hub.py"),
    # A model that is here needs no network: the flag keeps that.
    "offline": Row(seen=SAME),
    "refresh": Row(names=("hub",), elsewhere="test/Hub/check_hub.py"),
    "weight-format": Row("fp8"),
    "assume": Row("vocab_size=64000"),
}
REPORT = {
    "format": Row("html", seen=TEXT),
    "json": Row(seen=TEXT),
    "brief": Row(seen=TEXT),
    "explain": Row(seen=TEXT),
    "impact": Row(seen=TEXT),
    "verbose": Row(seen=TEXT),
    "report-output": Row("report.txt", seen=FILE),
    "bundle": Row("bundle.zip", seen=FILE),
    "help": Row(seen=TEXT),
}
ESTIMATE = {**STEP, **SERVICE, **SPLITS, **EXPERTS, **PIPELINE, **TRAINING, **MACHINE, **SOURCE, **REPORT}


def without(words, flags):
    return [word for word in words if word.split("=")[0] not in flags]


LARGE = {
    "training with megatron": "--batch=128 --devices=64 --space=tp=4,pp=4,cp=1,fsdp=off",
    "training of experts": "--batch=128 --devices=256 --space=tp=4,pp=4,cp=1,ep=16..32,fsdp=off",
}


def search_question(name):
    """A question without its plan: the search finds one for 8 devices, or for
    as many as the training of a large model needs."""
    if name in LARGE:
        return [*without(shlex.split(QUESTIONS[name]), {*SHARDS, "--nodes", "--batch"}), *LARGE[name].split()]
    words = without(shlex.split(QUESTIONS[name]), {*SHARDS, "--nodes", "--acceptance", "--rate", "--concurrency"})
    if is_service(name):
        words = [word.replace("lognormal:", "").replace(",0.4", "") for word in words] + ["--phase=request", "--batch=8"]
    if not is_service(name) and "--phase" not in {word.split("=")[0] for word in words}:
        words.append("--phase=prefill")
    if not any(word.startswith("--batch") for word in words):
        words.append("--batch=4")
    return [*words, "--devices=8", "--space=tp=1..8,pp=1,cp=1"]


def sweep_question(name):
    words = shlex.split(QUESTIONS[name])
    return words if is_service(name) else [*without(words, {"--batch"}), "--batch=16|32"]


def compare_question(name):
    words = shlex.split(QUESTIONS[name])
    own = next((word.split("=")[1] for word in words if word.startswith("--hardware")), "h100-sxm-8")
    return [*without(words, {"--hardware"}), f"--hardware={own},b200-sxm-8"]


def rows_of(changes):
    return {**ESTIMATE, **changes}


SEARCH = rows_of({
    "devices": Row("16", names=("nodes",)),
    "batch": Row({"": "2", "images": "4", "training with megatron": "64", "training of experts": "64"}),
    "nodes": Row("2", drops=["--devices"]),
    "space": Row("tp=1..2,pp=1,cp=1"),
    "goal": Row("latency", ranks=True),
    "sla": Row("tpot:1us", names=("limit", "ttft")),
    "threads": Row("1", seen=SAME),
    "why": Row("tp2"),
    "from": Row("serve.sh", drops=["--devices", "--nodes"], names=("memory_utilization", "devices")),
    "verify": Row(verifies=True),
    "plans-output": Row("plans", seen=FILE),
    "format": Row("csv", seen=TEXT),
    "phase": Row({"": "decode", "dense decode": "prefill", "moe decode": "prefill", "mla decode": "prefill",
                  "hybrid decode": "prefill", "service by rate": "prefill", "service by concurrency": "prefill",
                  "images served": "prefill", "speech served": "prefill", "drafts served": "prefill"},
                 names=("decode",), drops=["--output-tokens"]),
})  # fmt: skip
SPACE = "--space=tp=1..8,pp=1,cp=1"
# A search of one node, which is quick; the batch is then a part of the plan.
SEARCHED = [f"--search {SPACE}"]
PLANNED = [*SHARDS, "--nodes"]
OTHER_STAGE = "the stage that changes is not the fullest, of which tables show the memory"
SWEEP = rows_of({
    "devices": Row("8|16", drops=PLANNED, names=("search",), bounds=[SPACE]),
    # Up to 4, for the dense questions have the best plan of tp8 themselves.
    "search": Row(drops=PLANNED, bounds=["--space=tp=1..4,pp=1,cp=1"]),
    "format": Row("csv", seen=TEXT),
    "svg": Row("plot.svg", seen=FILE, names=("gnuplot",)),
    "plot": Row("step_time_us", ["--svg=plot.svg"], seen=FILE, names=("svg",), file="plot.svg"),
    "space": Row("tp=4,pp=1,cp=1", SEARCHED, names=("search",), drops=PLANNED),
    "goal": Row("latency", SEARCHED, names=("search",), drops=[*PLANNED, "--batch"], ranks=True).in_tables(
        {question: "of one batch on the same devices, what is fastest trains the most" for question in QUESTIONS
         if question.startswith("training")}, "search"),
    "sla": Row("tpot:30ms", ["--search"], names=("search",)),
    "threads": Row("1", SEARCHED, seen=SAME, names=("search",), drops=PLANNED),
    "loss": ESTIMATE["loss"].in_tables({"training with megatron": OTHER_STAGE}),
    "loss-chunks": ESTIMATE["loss-chunks"].in_tables({"training with megatron": OTHER_STAGE}),
    "schedule": ESTIMATE["schedule"].in_tables({"training of experts": OTHER_STAGE}),
    "expert-capacity-factor": Row("1.25", ["--expert-load=zipf:1.0"]).in_tables({
        "training of experts": "capacities above the mean drop nothing of even loads"}),
    "expert-trace": ESTIMATE["expert-trace"].in_tables({
        "training of experts": "the placement balances this trace: all devices work as without it"}),
    "expert-groups-in-node": ESTIMATE["expert-groups-in-node"].in_tables({
        "training of experts": "both placements leave the hottest device as hot"}),
    "microbatches": ESTIMATE["microbatches"].in_tables({
        question: "engines run prompts in chunks of tokens of their own, whatever fills the stages"
        for question in ("dense prefill", "images")}),
})  # fmt: skip
# Of one report alone: a table refuses them.
REPORTED = ("brief", "explain", "impact", "verbose", "trace", "simulate", "seed", "requests", "requests-output")
COMPARE = rows_of({
    **{name: Row(ESTIMATE[name].values, elsewhere="estimate") for name in REPORTED},
    "plans": Row("tp8;tp4", drops=SHARDS),
    "hardware": Row("a100-sxm-80g-8,h100-sxm-8", names=("devices",)),
})


@dataclasses.dataclass
class Command:
    """A command's rows and questions; `quick` takes one case in so many."""

    rows: dict
    questions: dict
    quick: int


COMMANDS = {
    "estimate": Command(ESTIMATE, {name: shlex.split(QUESTIONS[name]) for name in QUESTIONS}, 4),
    "compare": Command(COMPARE, {name: compare_question(name) for name in QUESTIONS}, 20),
    "sweep": Command(SWEEP, {name: sweep_question(name) for name in QUESTIONS}, 20),
    "search": Command(SEARCH, {name: search_question(name) for name in QUESTIONS}, 20),
}
