"""The verdict on one run: an exit code, and about 15 lines for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from reports.record import Outcome, Record, Row, ViolationRow
from reports.storage import one_line
from reports.tables import descriptor_counts, vacuous

VERDICTS = {
    0: "the implementation keeps the contract, as far as this run looked",
    1: "the implementation breaks the contract where no finding says so",
    2: "a finding no longer fails here: bring the findings up to date",
    3: "no verdict: the run is not whole, is vacuous, or what ran it is broken",
}

TOO_WIDE = 0.03  # of the drawn programs: a finding that absorbs more may hide other faults
SHOWN = 5  # of each kind of failure: the record has the others


class NewViolation(NamedTuple):
    """All new violations of one signature: the first, its row, and how many rows have one."""

    first: ViolationRow
    row: Row
    rows: int


def exit_code(record: Record) -> int:
    """The key of `VERDICTS`; what is missing outweighs what was seen, since it may hide more."""
    if _why_no_verdict(record):
        return 3
    if _new_violations(record) or _rows(record, Outcome.CRASH, Outcome.TIMEOUT):
        return 1
    return 2 if _out_of_date(record) else 0


def summarize(record: Record) -> str:
    """Plain text, the verdict first; what a file says is made fit for one line."""
    code = exit_code(record)
    return "\n".join(
        [
            _headline(record, code),
            _what_ran(record),
            _counts(record),
            _rules(record),
            _shown(record),
            *_vacuous(record),
            *_findings(record),
            *_new(record),
            *_named("died", _rows(record, Outcome.CRASH, Outcome.TIMEOUT)),
            *_named("error", _rows(record, Outcome.ERROR)),
            _speed(record),
            _not_checked(record),
            f"exit {code}: {VERDICTS[code]}",
        ]
    )


def _line(label: str, text: str) -> str:
    return f"{label:<12}{one_line(text)}"


def why_not_whole(record: Record) -> str:
    """What was not judged that should have been, "" if nothing: whatever it showed, the run is no verdict."""
    if record.footer is None:
        return "the record has no footer"
    if not record.footer.complete:
        return record.footer.reason
    failed = (Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT)
    if any(row.origin == "smoke" for row in _rows(record, *failed)):
        return "the smoke check failed, so the adapter is broken"
    if errors := len(_rows(record, Outcome.ERROR)):
        return f"the suite itself failed on {_many(errors, 'program')}"
    if not any(row.checked for row in record.rows):
        return "no rule judged any program"
    return ""


def _why_no_verdict(record: Record) -> str:
    return why_not_whole(record) or _why_vacuous(record)


def _why_vacuous(record: Record) -> str:
    missing = vacuous(record)
    if not missing:
        return ""
    name, (seen, least) = next(iter(missing.items()))
    others = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
    return f"the run is vacuous: {name} seen {seen} of {least} times{others}"


def _headline(record: Record, code: int) -> str:
    if code == 3:
        seen = _what_is_new(record)
        return one_line(f"INCOMPLETE: {_why_no_verdict(record)}; {seen or 'nothing new'} so far")
    if code == 1:
        return f"VIOLATIONS: {_what_is_new(record)}"
    if code == 2:
        return f"FINDINGS OUT OF DATE: {len(_out_of_date(record))}"
    return "CONFORMS" + (" except for known faults" if _rows(record, Outcome.KNOWN) else "")


def _what_is_new(record: Record) -> str:
    new = _new_violations(record)
    programs = sum(any(violation.is_new for violation in row.violations) for row in record.rows)
    crashes, timeouts = (len(_rows(record, kind)) for kind in (Outcome.CRASH, Outcome.TIMEOUT))
    parts = [
        f"{len(new)} new in {_many(programs, 'program')}" if new else "",
        _many(crashes, "crash", "crashes") if crashes else "",
        _many(timeouts, "timeout") if timeouts else "",
    ]
    return ", ".join(filter(None, parts))


def _what_ran(record: Record) -> str:
    header = record.header
    torch = f"torch {header.torch_version} ({header.torch_git[:10] or 'no git hash'})"
    return _line(
        "ran",
        f"{torch}, {header.implementation} on {', '.join(header.devices)}; "
        f"profile {header.profile}, seed {header.seed}",
    )


def _counts(record: Record) -> str:
    counts = Counter(row.outcome for row in record.rows)
    text = ", ".join(f"{counts[outcome]} {outcome.value}" for outcome in Outcome if counts[outcome])
    return _line("programs", f"{len(record.rows)}: {text or 'none'}")


def _rules(record: Record) -> str:
    checked = {rule for row in record.rows for rule in row.checked}
    never = record.header.requirements.keys() - checked - record.header.unchecked.keys()
    return _line("rules", f"{len(checked)} checked; never exercised: {_ids(never) or 'none'}")


def _shown(record: Record) -> str:
    counts = descriptor_counts(record)
    header = record.header
    unseen = [kind for kind in header.kinds if not counts[kind][0]]
    reasons = Counter(header.not_expected[kind] for kind in unseen if kind in header.not_expected)
    missing = [kind for kind in unseen if kind not in header.not_expected]
    parts = [f"{reason}: {count}" for reason, count in reasons.items()]
    notes = [
        f"not expected: {', '.join(parts)}" if parts else "",
        f"NOT SEEN: {', '.join([*missing[:SHOWN], *_rest(len(missing))])}" if missing else "",
    ]
    text = f"descriptor kinds {len(header.kinds) - len(unseen)} of {len(header.kinds)}"
    told = "; ".join(filter(None, notes))
    return _line("shown", f"{text} ({told})" if told else text)


def _vacuous(record: Record) -> Iterator[str]:
    missing = vacuous(record)
    told = [f"{name} {seen} of {least}" for name, (seen, least) in list(missing.items())[:SHOWN]]
    if missing:
        yield _line("vacuous", ", ".join([*told, *_rest(len(missing))]))


def _findings(record: Record) -> Iterator[str]:
    absorbed: Counter[str] = Counter()
    drawn: Counter[str] = Counter()
    for row in record.rows:
        names = {v.finding for v in row.violations if v.finding is not None}
        names.discard(row.finding or "")  # its own program is what a finding is there for
        absorbed.update(names)
        drawn.update(names if row.origin == "drawn" else ())
    top = ", ".join(f"{name} {count}" for name, count in _by_count(absorbed)[:3])
    yield _line("findings", f"{len(absorbed)} absorbed programs{top and ', most: ' + top}")
    limit = TOO_WIDE * sum(row.origin == "drawn" for row in record.rows)
    if wide := [name for name, count in _by_count(drawn) if count > limit]:
        yield _line("too wide", f"over {TOO_WIDE:.0%} of the drawn programs: {', '.join(wide)}")
    if stale := _out_of_date(record):
        yield _line("out of date", ", ".join(stale))


def _out_of_date(record: Record) -> list[str]:
    return sorted({row.finding or "" for row in _rows(record, Outcome.OUT_OF_DATE)})


def _new_violations(record: Record) -> list[NewViolation]:
    """One a signature, the commonest first."""
    first: dict[str, tuple[ViolationRow, Row]] = {}
    rows: Counter[str] = Counter()
    for row in record.rows:
        new = {v.signature: v for v in reversed(row.violations) if v.is_new}
        rows.update(new.keys())
        for signature, violation in new.items():
            first.setdefault(signature, (violation, row))
    return [NewViolation(*first[signature], count) for signature, count in _by_count(rows)]


def _new(record: Record) -> Iterator[str]:
    new = _new_violations(record)
    for violation, row, rows in new[:SHOWN]:
        seen = f"{violation.rule} {violation.path} in {violation.program or row.program}"
        yield _line("new", f"{seen}, {_many(rows, 'program')}: {violation.replay}")
    yield from (_line("new", rest) for rest in _rest(len(new)))


def _named(label: str, rows: list[Row]) -> Iterator[str]:
    """One line for all of them: a program's hash is enough to replay it."""
    shown = [
        f"{row.program} ({row.outcome.value}: {one_line(row.detail or 'no detail', 60)})"
        for row in rows[:SHOWN]
    ]
    if rows:
        yield _line(label, ", ".join([*shown, *_rest(len(rows))]))


def _rest(count: int) -> list[str]:
    return [f"and {count - SHOWN} more"] if count > SHOWN else []


def _speed(record: Record) -> str:
    if record.footer is None or not record.footer.seconds:
        return _line("speed", "unknown")
    programs = sum(row.origin in ("drawn", "stored") for row in record.rows)
    seconds = record.footer.seconds
    return _line(
        "speed", f"{programs / seconds:.1f} programs a second ({programs} in {seconds:.0f} s)"
    )


def _not_checked(record: Record) -> str:
    by_reason: dict[str, list[str]] = {}
    if not any(device.startswith("cuda") for device in record.header.devices):
        by_reason["CUDA"] = []
    for rule, reason in record.header.unchecked.items():
        by_reason.setdefault(reason, []).append(rule)
    parts = [f"{reason}: {_ids(ids)}" if ids else reason for reason, ids in by_reason.items()]
    return _line("not checked", "; ".join(parts) or "nothing left out")


def _rows(record: Record, *outcomes: Outcome) -> list[Row]:
    return [row for row in record.rows if row.outcome in outcomes]


def _by_count(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _ids(ids: Iterable[str]) -> str:
    """Requirement ids as a reader counts: C2 before C10."""
    return " ".join(sorted(ids, key=lambda id_: (id_[0], int(id_[1:]))))


def _many(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"
