"""How ``make docs`` builds the site: Sphinx over the Markdown of this repository, which a forge shows as it is.

The pages are those that ``docs/_toc.yml`` lists. The commands, and the Python API, are read from the code.
"""

from __future__ import annotations

from importlib.metadata import version as installed_version
from pathlib import Path

import click
from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx import addnodes
from sphinx.application import Sphinx

project = "Salvo"
author = "The Salvo authors"
project_copyright = "The Salvo authors"
version = release = installed_version("battleship-salvo")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_external_toc",
]
external_toc_path = "docs/_toc.yml"
include_patterns = ["docs/**", "proto/*.md", "client_sdk/javascript/*.md", "*.md"]
exclude_patterns = [".venv", "build", "**/node_modules", "docs/conf.py"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.xref_missing"]  # what leads to code: see ``_unlink``; a test checks that it is there

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = True

html_theme = "furo"
html_title = f"Salvo {version}"
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_additional_pages = {"index": "start.html"}
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
highlight_language = "text"
copybutton_exclude = ".linenos, .gp, .go"


def _unlink(app: Sphinx, tree: nodes.document) -> None:
    """Show what a page links to in the code, which the site does not have, as text: its words, then where it is."""
    root = Path(app.srcdir).resolve()
    page = root / app.env.docname
    for reference in list(
        tree.findall(lambda node: isinstance(node, (addnodes.download_reference, addnodes.pending_xref)))
    ):
        file = (page.parent / reference["reftarget"].partition("#")[0]).resolve()
        if isinstance(reference, addnodes.download_reference) or file.is_dir():
            place = str(file.relative_to(root))
            is_named = reference.astext().strip("/").endswith(place)
            reference.replace_self([*reference.children, *([] if is_named else [nodes.Text(f" ({place})")])])


def _literal(_: Sphinx, __: click.Context, lines: list[str]) -> None:
    """Print an asterisk of a help text as it is."""
    lines[:] = [line.replace("*", r"\*") for line in lines]


def setup(app: Sphinx) -> None:
    app.connect("sphinx-click-process-options", _literal)
    app.connect("doctree-read", _unlink)
    for language in ("csv", "mermaid"):  # which are shown as they are: the site loads no script to draw with
        app.add_lexer(language, TextLexer)
