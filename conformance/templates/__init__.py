"""Texts for people, as templates of jinja2."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


def template(name: str) -> Template:
    """The template in this folder of that name. Raises jinja2.TemplateNotFound."""
    # What is written is Markdown with programs in it: nothing in there is to be escaped as HTML.
    loader = PackageLoader("conformance", "templates")
    texts = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    texts.filters["statements"] = lambda program: len(program.setup) + len(program.body)
    return texts.get_template(name)
