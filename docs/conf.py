"""How the site is built: ``make docs``."""

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for _docstrings and the like

from _public import public_bases

project = "kernelfields"
copyright = "the authors of kernelfields; BSD-3-Clause"
release = metadata.version("kernelfields")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "_attributes",
    "_docstrings",
    "_formulas",
    "_links",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build", "_templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}  # the latter for what autosummary writes
templates_path = ["_templates"]
autosummary_imported_members = True  # classes of a package are from its files

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# Public names are those of __all__: a new one is on its page without further ado.
autodoc_default_options = {
    "members": True,
    "member-order": "groupwise",
    "show-inheritance": True,
    # What comes from classes that are documented is there; what comes from others is listed with each heir.
    "inherited-members": ",".join(public_bases()),
}
autodoc_typehints = "none"  # the text says what is meant, and in which shape
autodoc_class_signature = "mixed"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_param = False  # types are words, not names to be looked up
napoleon_use_rtype = False
napoleon_use_ivar = True

suppress_warnings = ["ref.python"]  # the same word may be an attribute of several classes
# Words in docstrings' single backquotes are names; those without a target stay as they are.
default_role = "py:obj"

toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "kernelfields"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "navbar_align": "left",
    "header_links_before_dropdown": 5,
    # Versions of the site beside one another: a new one is an entry in versions.json, whose address counts
    # from the root of the host.
    "switcher": {"json_url": "_static/versions.json", "version_match": release},
    "check_switcher": False,
    "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
}
html_sidebars = {"quick_start": [], "experiments": [], "moving": []}
