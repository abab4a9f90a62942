"""The gate's answer: a few lines, Markdown in which a record can start nothing, scripts that say what to look at."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reports.compare import compare
from reports.gate import Gate, as_json, as_markdown, as_text, write_scripts
from reports.policy import EVERYTHING, Policy
from reports.record import Outcome, Record, Row
from tests.reports.samples import HEADER, NEW, PASSED, whole

HOSTILE = "`</details><script>alert(1)</script>\n\x1b[31m|x|[bold]"
HELD = replace(PASSED, origin="stored", shard="stored", source="print('held')\n")
FAILS = replace(HELD, outcome=Outcome.FAIL, violations=(NEW,), source="print('fails')\n")
BEFORE = whole(HELD)


def gate(after: Record, policy: Policy = EVERYTHING) -> Gate:
    return Gate(compare(BEFORE, after), policy)


def hostile(text: str) -> Row:
    violation = replace(NEW, path=text, expected=text, found=text, signature=text)
    return replace(FAILS, violations=(violation,), features=(text,), detail=text)


def test_what_broke_comes_with_its_script(tmp_path: Path) -> None:
    broken = compare(BEFORE, whole(FAILS))
    scripts = write_scripts(broken.breaks(), HEADER, tmp_path)
    assert str(tmp_path / f"C1-{FAILS.program}.py") in as_text(Gate(broken, scripts=scripts)).plain


def test_a_script_says_first_what_to_look_at(tmp_path: Path) -> None:
    (path,) = write_scripts(compare(BEFORE, whole(FAILS)).breaks(), HEADER, tmp_path).values()
    assert path.read_text().splitlines() == [
        "# regressed: it held before; or it failed, and now fails in a further way",
        "# C1: Outputs equal eager's.",
        "# at outputs[0].stride",
        "# expected (3, 1)",
        "# found (1, 3)",
        f"# replay: joint-conformance replay {FAILS.program} --requirement C1",
        "print('fails')",
    ]


def test_nothing_of_a_record_but_its_script_leaves_the_comments(tmp_path: Path) -> None:
    (path,) = write_scripts(compare(BEFORE, whole(hostile(HOSTILE))).breaks(), HEADER, tmp_path).values()
    assert [line for line in path.read_text().splitlines() if not line.startswith("# ")] == ["print('fails')"]


def test_the_terminal_has_about_fifteen_lines_however_much_broke() -> None:
    rows = [replace(FAILS, program=f"{n:08x}", violations=(replace(NEW, signature=f"C1 {n}"),)) for n in range(40)]
    comparison = compare(whole(*(replace(HELD, program=row.program) for row in rows)), whole(*rows))
    assert len(as_text(Gate(comparison, Policy(("Inductor",)))).plain.splitlines()) <= 16


@pytest.mark.parametrize(
    ("after", "line"),
    [
        (whole(HELD), "NOTHING BROKE"),
        (whole(FAILS), "REGRESSIONS: 1 on 1 program"),
        (whole(HELD, header=replace(HEADER, profile="gate")), "NOT COMPARABLE: other profiles: quick before, gate after"),
    ],
)
def test_the_verdict_is_the_first_line(after: Record, line: str) -> None:
    assert as_text(gate(after)).plain.splitlines()[0] == line


def test_what_broke_elsewhere_is_shown_and_does_not_decide() -> None:
    elsewhere = gate(whole(FAILS), Policy(("partitioners",)))
    text = as_text(elsewhere).plain
    assert (elsewhere.status, text.splitlines()[0]) == (0, "NOTHING BROKE THAT DECIDES")
    assert "broken elsewhere: 1 on 1 program" in text


def test_a_text_of_a_record_starts_nothing_in_the_terminal() -> None:
    assert "\x1b" not in as_text(gate(whole(hostile(HOSTILE)))).plain


def test_a_text_of_a_record_starts_nothing_in_markdown() -> None:
    outside = "".join(part for line in as_markdown(gate(whole(hostile(HOSTILE)))).splitlines() for part in line.split("`")[::2])
    assert "script>" not in outside


def test_markdown_says_how_to_look_at_what_broke() -> None:
    replay = f"- `replay: joint-conformance replay {FAILS.program} --requirement C1`"
    assert replay in as_markdown(gate(whole(FAILS))).splitlines()


def test_json_has_each_change() -> None:
    data = json.loads(as_json(gate(whole(FAILS))))
    assert (data["exit"], [(change["kind"], change["requirement"]) for change in data["changes"]]) == (1, [("regressed", "C1")])
