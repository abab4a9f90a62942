"""The records of shards joined: each judged a part of the same tests, and together they are one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from reports.record import Footer, Header, Record, RecordError, count_outcomes

#: What may be another in each shard.
_OF_THE_SHARD = {"shard", "started", "platform"}


def join(records: Sequence[Record]) -> Record:
    """One record of the whole run, complete if every shard is; its wall time is that of the longest shard.

    Raises RecordError, one line, where a shard is there twice or is missing, or was run in another way. What the
    run must have shown is demanded of the whole alone: a shard shows a part.
    """
    headers = [record.header for record in records]
    _refuse_other_runs(headers)
    _refuse_gaps_and_overlaps([header.shard for header in headers])
    ordered = sorted(records, key=lambda record: int(record.header.shard.split("/")[0]))
    rows = tuple(row for record in ordered for row in record.rows)
    footers = [record.footer for record in ordered if record.footer is not None]
    reasons = [f"shard {record.header.shard}: {_why_incomplete(record)}" for record in ordered if not record.is_complete]
    footer = Footer(
        complete=not reasons,
        rows=len(rows),
        outcomes=count_outcomes(rows),
        finished=max((footer.finished for footer in footers), default=headers[0].started),
        seconds=max((footer.seconds for footer in footers), default=0.0),
        reason="; ".join(reasons),
    )
    return Record(replace(ordered[0].header, shard="1/1", started=min(header.started for header in headers)), rows, footer)


def _refuse_other_runs(headers: Sequence[Header]) -> None:
    if not headers:
        raise RecordError("no record is given")
    names = [field.name for field in fields(Header) if field.name not in _OF_THE_SHARD]
    for header in headers[1:]:
        for name in names:
            if getattr(header, name) != getattr(headers[0], name):
                raise RecordError(f"shards {headers[0].shard} and {header.shard} are of different runs: {name} is another")


def _refuse_gaps_and_overlaps(shards: Sequence[str]) -> None:
    totals = {int(shard.split("/")[1]) for shard in shards}
    if len(totals) > 1:
        raise RecordError(f"shards of different numbers of parts: {', '.join(sorted(shards))}")
    (total,) = totals
    for shard in shards:
        if shards.count(shard) > 1:
            raise RecordError(f"shard {shard} is there {shards.count(shard)} times")
    missing = [shard for number in range(total) if (shard := f"{number + 1}/{total}") not in shards]
    if missing:
        raise RecordError(f"missing: shard {', '.join(missing)}")


def _why_incomplete(record: Record) -> str:
    return "no footer" if record.footer is None else record.footer.reason
