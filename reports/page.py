"""Records as one page: a single file that opens from disk, and a view of the JSON inside it.

A record may come from elsewhere, so nothing in it can run here. Markup is made by one template that escapes all it is given,
and by a script that writes data as text alone; the page's policy lets no other script run, and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from reports.compare import compare
from reports.page_data import inert, page_data
from reports.page_front import comparisons, of_a_step, of_one
from reports.record import Record

#: In the order in which they stand in the page: each uses those before it.
SCRIPTS = (
    "text.js",
    "graph.js",
    "program.js",
    "programs.js",
    "requirements.js",
    "faults.js",
    "descriptors.js",
    "plots.js",
    "runs.js",
    "main.js",
)
MAX_BYTES = 950_000  # of the whole page, where leaving out scripts and graphs can keep it so small
_OPENING = '<script type="application/json" id="data">'
_SHOWN = 5  # entries of each kind of change; the others are one click away


def page(records: Sequence[Record]) -> str:
    """The page of one run, of the step from one to another, or of a row of versions with each step, the oldest first.

    Raises ValueError where there is no record.
    """
    if not records:
        raise ValueError("a page needs a record")
    whole = compare(records[0], records[-1]) if len(records) > 1 else None
    steps = comparisons(records) if len(records) > 2 else ()
    front = of_a_step(whole, steps) if whole else of_one(records[0])
    script = '"use strict";\n' + "\n".join(map(_file, SCRIPTS))
    style = _file("style.css")

    def rendered(data: dict[str, Any]) -> str:
        ours = {"style": Markup(style), "script": Markup(script), "data": Markup(inert(data))}
        return _template().render(front=front, shown=_SHOWN, policy=_policy(script, style), **ours)

    first_screen = {"front": asdict(front)}
    room = MAX_BYTES - len(rendered(first_screen).encode())
    return rendered(first_screen | page_data(records, whole, room))


def data_in(text: str) -> dict[str, Any]:
    """The JSON object inside a page; raises ValueError where there is none."""
    _, opening, rest = text.partition(_OPENING)
    if not opening:
        raise ValueError("this is no page of joint-conformance")
    found: dict[str, Any] = json.loads(rest.partition("</script>")[0])
    return found


def _policy(script: str, style: str) -> str:
    """Only this script and this style, named by their hashes; no address is ever loaded, no text ever made into markup."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
    return (
        f"default-src 'none'; script-src 'sha256-{digests[0]}'; style-src 'sha256-{digests[1]}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _file(name: str) -> str:
    return resources.files("reports").joinpath(f"templates/{name}").read_text("utf-8")


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_file),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    return environment.get_template("page.html")
