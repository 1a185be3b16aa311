# Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads DOT by its grammar (graphviz.org/doc/info/lang.html) and checks that it
is the graph of a JSON file: the same clusters around the same nodes, the same
edges. Where Graphviz is installed, `dot` must read it, too.

usage: check_dot.py FILE.dot FILE.json
"""

import json
import re
import shutil
import subprocess
import sys

TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|(->|[{}\[\];,=])|([A-Za-z_][A-Za-z_0-9]*|-?[0-9.]+))', re.S)


class Parser:
    def __init__(self, text):
        self.tokens, at = [], 0
        text = text.rstrip()
        while at < len(text):
            match = TOKEN.match(text, at)
            assert match, f"no token at: {text[at:at + 60]!r}"
            self.tokens.append(match[1] or match[2] or match[3])
            at = match.end()
        self.at, self.nodes, self.edges, self.clusters = 0, {}, [], []

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, wanted=None):
        token = self.tokens[self.at]
        assert wanted is None or token == wanted, f"expected {wanted}, found {token}"
        self.at += 1
        return token

    def identifier(self):
        token = self.take()
        assert token[0] == '"' or re.match(r"[A-Za-z_0-9-]", token), f"no name: {token}"
        return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.S) if token[0] == '"' else token

    def attributes(self):
        found = {}
        self.take("[")
        while self.peek() != "]":
            name = self.identifier()
            self.take("=")
            found[name] = self.identifier()
            if self.peek() == ",":
                self.take()
        self.take("]")
        return found

    def statements(self, parent):
        self.take("{")
        while self.peek() != "}":
            self.statement(parent)
            if self.peek() == ";":
                self.take()
        self.take("}")

    def statement(self, parent):
        if self.peek() == "subgraph":
            self.take()
            name = self.identifier()
            assert name.startswith("cluster_"), name
            self.clusters.append((int(name[8:]), parent))
            return self.statements(int(name[8:]))
        name = self.identifier()
        if name in ("graph", "node", "edge"):
            return self.attributes()
        if self.peek() == "=":
            self.take()
            return self.identifier()
        if self.peek() == "->":
            self.take()
            self.edges.append((name, self.identifier(), self.attributes()))
            return None
        assert name not in self.nodes, f"{name} twice"
        self.nodes[name] = (parent, self.attributes())


def main(dot_path, json_path):
    with open(dot_path, encoding="utf-8") as file:
        text = file.read()
    with open(json_path, encoding="utf-8") as file:
        graph = json.load(file)
    parser = Parser(text)
    parser.take("digraph")
    parser.identifier()
    parser.statements(None)
    assert parser.peek() is None, "text behind the graph"
    assert sorted(parser.clusters, key=str) == sorted(
        ((one["id"], one["parent"]) for one in graph["clusters"]), key=str)
    assert {name: parent for name, (parent, _) in parser.nodes.items()} == {
        f"n{one['id']}": one["cluster"] for one in graph["nodes"]}
    assert [(a, b) for a, b, _ in parser.edges] == [
        (f"n{one['from']}", f"n{one['to']}") for one in graph["edges"]]
    for one in graph["clusters"] + graph["nodes"]:
        inside = one.get("parent", one.get("cluster"))
        assert inside is None or inside < len(graph["clusters"])
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tcanon", "-o", "/dev/null", dot_path], check=True)
    print(f"{len(graph['nodes'])} nodes, {len(graph['edges'])} edges, {len(graph['clusters'])} clusters")


main(*sys.argv[1:])
