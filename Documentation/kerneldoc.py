# SPDX-License-Identifier: GPL-2.0-only
"""The directive ".. kernel-doc::" for Sphinx, as far as Documentation/ uses it.

It takes :doc: TITLE and :identifiers: NAME..., and writes what the comments of the kernel's
form say: sections, structures with their members, and macros.
"""
import os
import re

from docutils import nodes, statemachine
from docutils.parsers.rst import Directive, directives
from sphinx.util.nodes import nested_parse_with_titles

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def comments(text):
    """Each comment that begins with two stars, without them, and the code after it."""
    for found in re.finditer(r"/\*\*(?!\*)(.*?)\*/(.*?)(?=/\*|\Z)", text, re.S):
        lines = [re.sub(r"^\s*\* ?", "", line.rstrip()) for line in found[1].strip().split("\n")]
        yield lines, found[2]


def marked_up(text):
    text = re.sub(r"&struct (\w+)\.(\w+)", r":c:member:`\1.\2`", text)
    text = re.sub(r"&struct (\w+)", r":c:struct:`\1`", text)
    return re.sub(r"(?<!\w)@(\w+)", r"``\1``", text)


def indented(lines):
    return ["   " + line if line else "" for line in lines]


def section(lines):
    """A comment that begins with "DOC: TITLE": its title and its text."""
    found = re.match(r"DOC: (.*)", lines[0])
    return found and (found[1], lines[1:])


def macro(lines):
    found = re.match(r"define (\w+) - (.*)", lines[0])
    return found and (found[1], [f".. c:macro:: {found[1]}", "", "   " + found[2]])


def members_of(code):
    """The type of each member of the structure that the code declares."""
    body = re.search(r"\{(.*?)\}", code, re.S)
    return {name: kind for kind, name in re.findall(r"(\w+)\s+(\w+)(?:\[\w+\])?;", body[1])}


def structure(lines, code):
    found = re.match(r"struct (\w+) - (.*)", lines[0])
    if not found:
        return None
    rest = lines[1:]
    told = {}
    while rest and rest[0]:
        line = rest.pop(0)
        member = re.match(r"@(\w+): (.*)", line)
        if member:
            name = member[1]
            told[name] = [member[2]]
        else:
            told[name].append(line.strip())
    types = members_of(code)
    if list(types) != list(told):
        raise ValueError(f"struct {found[1]} has the members {list(types)}, its comment {list(told)}")
    inside = [found[2], ""] + rest + [""]
    for name, text in told.items():
        inside += [f".. c:member:: {types[name]} {name}", ""] + indented(text) + [""]
    return found[1], [f".. c:struct:: {found[1]}", ""] + indented(inside)


class KernelDoc(Directive):
    required_arguments = 1
    option_spec = {"doc": directives.unchanged_required,
                   "identifiers": directives.unchanged_required}

    def run(self):
        path = os.path.join(TOP, self.arguments[0])
        self.state.document.settings.env.note_dependency(path)
        with open(path, encoding="utf-8") as header:
            told = list(comments(header.read()))
        if "doc" in self.options:
            wanted = [self.options["doc"]]
            there = dict(filter(None, (section(lines) for lines, _ in told)))
        else:
            wanted = self.options["identifiers"].split()
            there = dict(filter(None, (structure(*one) or macro(one[0]) for one in told)))
        result = []
        for name in wanted:
            if name not in there:
                raise self.error(f"{self.arguments[0]}: kernel-doc has nothing for {name}")
            result += marked_up("\n".join(there[name])).split("\n") + [""]
        node = nodes.section()
        node.document = self.state.document
        nested_parse_with_titles(self.state, statemachine.StringList(result, source=path), node)
        return node.children


def setup(app):
    app.add_directive("kernel-doc", KernelDoc)
    return {"parallel_read_safe": True}
