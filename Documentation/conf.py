# SPDX-License-Identifier: GPL-2.0-only
"""For Sphinx, outside of a kernel's source: make doc, or sphinx-build Documentation FOLDER.

In a kernel's source its own configuration and its own kernel-doc are in the place of this.
"""
import os
import posixpath
import sys

from docutils import nodes

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

project = "profil"
author = "the authors of profil"
extensions = ["kerneldoc"]
nitpicky = True
nitpick_ignore = [("c:identifier", "__u32"), ("c:identifier", "__s32"), ("c:identifier", "__aligned_u64")]
exclude_patterns = ["examples", "man", "__pycache__"]
highlight_language = "none"
html_theme = "alabaster"
html_show_copyright = False
html_copy_source = False
# The tables have up to six columns.
html_theme_options = {"page_width": "1140px", "body_max_width": "none"}


def link_documents(app, doctree, docname):
    """The name of one of these documents becomes a link to it."""
    for literal in list(doctree.findall(nodes.literal)):
        name = literal.astext().removeprefix("Documentation/")
        for target in (name, posixpath.join(posixpath.dirname(docname), name)):
            target = target.removesuffix(".rst")
            if not name.endswith(".rst") or target not in app.env.found_docs or target == docname:
                continue
            link = nodes.reference("", "", internal=True, refuri=app.builder.get_relative_uri(docname, target))
            literal.replace_self(link)
            link += literal
            break


def setup(app):
    app.connect("doctree-resolved", link_documents)
