# SPDX-License-Identifier: GPL-2.0-only
"""Checks reStructuredText: rst.py KERNEL_DOC FILE...

The kernel's documents are built by Sphinx with the kernel-doc extension. Here
docutils alone is enough: kernel-doc is run for each ".. kernel-doc::" and what
it writes is parsed in place; the directives and roles of Sphinx's C domain are
accepted and their contents parsed.
"""
import os
import subprocess
import sys

from docutils import core, nodes, statemachine
from docutils.parsers.rst import Directive, directives, roles

KERNEL_DOC = sys.argv[1]
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class KernelDoc(Directive):
    required_arguments = 1
    option_spec = {"doc": directives.unchanged_required,
                   "identifiers": directives.unchanged_required}

    def run(self):
        path = os.path.join(TOP, self.arguments[0])
        command = ["perl", KERNEL_DOC, "-rst", "-Werror"]
        if "doc" in self.options:
            command += ["-function", self.options["doc"]]
        for name in self.options.get("identifiers", "").split():
            command += ["-function", name]
        done = subprocess.run(command + [path], capture_output=True, text=True)
        if done.returncode or not done.stdout.strip():
            raise self.error(f"kernel-doc has nothing for {self.options} in "
                             f"{self.arguments[0]}: {done.stderr.strip()}")
        lines = statemachine.string2lines(done.stdout, 8, convert_whitespace=True)
        node = nodes.container()
        self.state.nested_parse(statemachine.StringList(lines, source=path), 0,
                                node, match_titles=True)
        return node.children


class Nested(Directive):
    """What Sphinx knows and docutils does not; only the contents count."""
    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self):
        node = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node]


def plain_role(name, rawtext, text, lineno, inliner, options=None, content=None):
    return [nodes.literal(rawtext, text)], []


directives.register_directive("kernel-doc", KernelDoc)
for name in ("c:struct", "c:union", "c:enum", "c:function", "c:macro", "c:type"):
    directives.register_directive(name, Nested)
for name in ("c:type", "c:func", "c:struct", "c:expr", "c:macro", "manpage"):
    roles.register_local_role(name, plain_role)

bad = False
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as document:
        text = document.read()
    try:
        core.publish_doctree(text, source_path=path, settings_overrides={
            "report_level": 2, "halt_level": 2, "input_encoding": "unicode",
            "warning_stream": ""})
    except Exception as error:
        print(f"{path}: {error}")
        bad = True
sys.exit(bad)
