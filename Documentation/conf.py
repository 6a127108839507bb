# SPDX-License-Identifier: GPL-2.0-only
"""For Sphinx, outside of a kernel's source: make doc, or sphinx-build Documentation FOLDER.

In a kernel's source its own configuration and its own kernel-doc are in the place of this.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

project = "profil"
author = "the authors of profil"
extensions = ["kerneldoc"]
nitpicky = True
nitpick_ignore = [("c:identifier", "__u32"), ("c:identifier", "__s32"), ("c:identifier", "__aligned_u64")]
exclude_patterns = ["examples", "man", "__pycache__"]
html_theme = "alabaster"
html_show_copyright = False
html_copy_source = False
