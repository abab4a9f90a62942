"""Programs judged in a child process: one that kills or hangs it is a verdict, and the run goes on.

The child is forked from a server that has imported torch and never runs it, so a new one costs little.
The parent keeps the program in hand while the child works on it: a dead child loses nothing.
"""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import resource
import signal
import tempfile
import warnings
from collections.abc import Collection
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import torch

import golden
from conformance.case import watch_eager_alone
from conformance.findings import load_findings
from conformance.implementation import load_implementation
from conformance.judge import Judged, Verdict, judge
from conformance.named import Stated
from conformance.shards import Shard, draw
from conformance.telling import script_of
from conformance.tracing import Tracer
from generators.features import features
from generators.mutants import mutant
from generators.program import Program
from reports.record import Outcome

#: Seconds that one program may take: thousands of times what they take.
TIMEOUT = 30.0
#: Seconds that a whole shard's drawing may take.
DRAW_TIMEOUT = 300.0
#: Bytes that a child may take on the CPU: what asks for more gets torch's own error, and the machine lives.
MEMORY = 4 << 30

_CONTEXT = multiprocessing.get_context("forkserver")


@dataclass(frozen=True)
class Job:
    """What a child needs to know before the first program: no torch objects, so that it can be sent.

    One that is ``traced`` says of each program which branches of AOTAutograd it takes.
    """

    implementation: str
    device: str = "cpu"
    only: tuple[str, ...] = ()
    timeout: float = TIMEOUT
    traced: bool = False


class Sandbox:
    """A child process that draws and judges programs. Used as a context manager, or closed by hand."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._child: BaseProcess | None = None
        self._pipe: Connection | None = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def confirmed(
        self, program: Program, thorough: bool | None = None, only: Collection[str] = (), stated: Stated | None = None
    ) -> Verdict:
        """As ``judge``, but what fails or dies is judged again by a fresh child, whose verdict counts.

        A trace that broke off may have left the process so that a later program fails for no fault of its own.
        A program that eager dies of as well says nothing about the implementation.
        """
        verdict = self.judge(program, thorough, only, stated)
        if verdict.outcome not in (Outcome.FAIL, Outcome.CRASH):
            return verdict
        self.close()
        again = self.judge(program, thorough, only, stated)
        if again.outcome is Outcome.CRASH and self._dies_in_eager(program, thorough):
            return replace(again, outcome=Outcome.UNSUPPORTED, detail=f"eager dies of it too: {again.detail}")
        return again

    def _dies_in_eager(self, program: Program, thorough: bool | None) -> bool:
        answer = self._ask(("eager", program, thorough), self.job.timeout)
        return isinstance(answer, Dead) and answer.outcome is Outcome.CRASH

    def judge(
        self, program: Program, thorough: bool | None = None, only: Collection[str] = (), stated: Stated | None = None
    ) -> Verdict:
        """The verdict on ``program``, crash and timeout among the possible outcomes; ``only`` of these rules, or the job's.

        ``stated`` are the descriptors that a named case must have.
        """
        answer = self._ask(("judge", program, thorough, frozenset(only or self.job.only), stated), self.job.timeout)
        if isinstance(answer, Verdict):
            if answer.spoilt or answer.outcome is Outcome.ERROR:
                self.close()  # what this program left behind, an open mode say, would spoil the next one
            return answer
        return Verdict(program, answer.outcome, features(program), detail=answer.detail, device=self.job.device)

    def draw(self, shard: Shard) -> list[Program]:
        """The shard's programs. Raises RuntimeError if drawing itself dies or hangs."""
        answer = self._ask(("draw", shard), DRAW_TIMEOUT)
        if isinstance(answer, Dead):
            raise RuntimeError(f"drawing {shard.name} ended in a {answer.outcome.value}: {answer.detail}")
        return answer  # type: ignore[no-any-return]

    def mutant(self, program: Program, other: Program, seed: str) -> Program | None:
        """A mutant of the program; None if there is none, or if eager dies of it."""
        answer = self._ask(("mutate", program, other, seed), self.job.timeout)
        return None if isinstance(answer, Dead) else answer

    def script(self, verdict: Verdict) -> str:
        """The verdict's program as a script (see script_of); "" where its setup fails on this torch."""
        answer = self._ask(("script", verdict), self.job.timeout)
        return answer if isinstance(answer, str) else ""

    def close(self) -> None:
        """End the child, gently or not."""
        if self._pipe is not None:
            self._pipe.close()
        if self._child is not None:
            self._child.join(timeout=0.5)
            self._child.kill()
            self._child.join()
        self._child = self._pipe = None

    def _ask(self, question: tuple[Any, ...], timeout: float) -> Any:
        pipe = self._started()
        try:
            pipe.send(question)
            if pipe.poll(timeout):
                return pipe.recv()
            self.close()
            return Dead(Outcome.TIMEOUT, f"no answer within {timeout:g} s")
        except (EOFError, ConnectionError):
            return Dead(Outcome.CRASH, self._cause_of_death())

    def _started(self) -> Connection:
        if self._pipe is None:
            self._pipe, theirs = _CONTEXT.Pipe()
            self._child = _CONTEXT.Process(target=_serve, args=(theirs, self.job), daemon=True)
            _CONTEXT.set_forkserver_preload(["conformance.sandbox", "conformance.warm"])
            self._child.start()
            theirs.close()
            self._await_readiness()
        assert self._pipe is not None
        return self._pipe

    def _await_readiness(self) -> None:
        """The child says that it is ready, so that a program's timeout is the program's alone."""
        assert self._pipe is not None
        try:
            ready = self._pipe.poll(DRAW_TIMEOUT) and self._pipe.recv()
        except (EOFError, ConnectionError):
            ready = self._cause_of_death()
        if ready != "ready":
            self.close()
            raise RuntimeError(f"the child process did not start: {ready or 'no answer'}")

    def _cause_of_death(self) -> str:
        assert self._child is not None
        self._child.join(timeout=5)
        code = self._child.exitcode
        self.close()
        return signal.Signals(-code).name if code is not None and code < 0 else f"exit status {code}"


@dataclass(frozen=True)
class Dead:
    """What the parent knows of a child that did not answer."""

    outcome: Outcome
    detail: str


def _serve(pipe: Connection, job: Job) -> None:
    """The child: answers questions until the parent hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the run, and the child with it
    prepare_child(job.device)
    findings = load_findings(golden.FINDINGS)
    implementation = load_implementation(job.implementation)
    os.chdir(tempfile.gettempdir())  # torch writes a graph that it can't partition to where the process is
    tracer = Tracer() if job.traced else None
    gc.freeze()  # what was imported lives as long as the child; no collection need look at it
    pipe.send("ready")
    while True:
        try:
            question, *details = pipe.recv()
        except EOFError:
            return
        if question == "draw":
            pipe.send(draw(details[0]))
        elif question == "mutate":
            pipe.send(mutant(*details))
        elif question == "eager":
            program, thorough = details
            watch_eager_alone(program, implementation, job.device, thorough)
            pipe.send("lived")
        elif question == "script":
            pipe.send(_script(details[0]))
        else:
            program, thorough, only, stated = details
            options = {"device": job.device, "findings": findings, "only": only, "thorough": thorough, "stated": stated}
            verdict = judge(program, implementation, **options)
            pipe.send(_sendable(replace(verdict, trace=tracer.since_the_last()) if tracer else verdict))


def _script(verdict: Verdict) -> str:
    try:
        return script_of(verdict)
    except Exception:  # what eager raises in a setup, say: not each version has each op
        return ""


def prepare_child(device: str) -> None:
    """Make this process one that judges: quiet, on one thread, and on the CPU within its share of memory."""
    if device == "cpu":
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # what programs print
    os.dup2(nowhere, 2)  # C++ warnings, one for each odd program


def _sendable(verdict: Verdict) -> Verdict:
    """The verdict without exceptions, which may hold anything."""
    return replace(verdict, judged=tuple(_without_error(item) for item in verdict.judged))


def _without_error(item: Judged) -> Judged:
    return replace(item, violation=replace(item.violation, error=None))
