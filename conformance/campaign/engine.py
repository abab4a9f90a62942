"""Where tasks run: Dask, on this machine alone or on the workers of a scheduler that is there already."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

import dask
from distributed import Client, LocalCluster

from conformance.campaign.plan import CampaignError

#: How many tasks can run at a time; another number whenever workers come and go.
Slots = Callable[[], int]


@contextmanager
def engine(workers: int, scheduler: str | None) -> Iterator[tuple[Executor, Slots]]:
    """An executor over the workers of ``scheduler``, or over ``workers`` processes of this machine.

    Raises CampaignError if no scheduler answers at that address.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # a worker that was replaced is told by the campaign
    with _client(workers, scheduler) as client:
        yield _Workers(client), lambda: max(1, sum(client.nthreads().values()))


class _Workers(Executor):
    """The workers of a client. Dask's own executor leaves a task unended whose result was lost with its worker."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Send a task out; its future ends in whatever becomes of it."""
        future: Future[Any] = Future()
        task = self.client.submit(fn, *args, pure=False, **kwargs)
        future.add_done_callback(lambda ended: task.cancel() if ended.cancelled() else None)
        task.add_done_callback(lambda ended: _pass_on(ended, future))
        return future


def _pass_on(task: Any, future: Future[Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = task.result()
    except Exception as error:  # the task's own, or that it was lost
        future.set_exception(error)
    else:
        future.set_result(result)


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes that start meanwhile ignore ctrl-C, which a terminal sends to all: the campaign ends them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _client(workers: int, scheduler: str | None) -> Iterator[Client]:
    if scheduler is None:
        # Memory is limited where programs run, in the child of a worker: the worker itself need not be watched.
        # One task at a time: where a worker dies, it is known of what, and two deaths are enough to give that task up.
        dask.config.set({"distributed.scheduler.worker-saturation": 1.0, "distributed.scheduler.allowed-failures": 1})
        settings = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": None, "silence_logs": logging.CRITICAL}
        with _deaf_to_ctrl_c():
            cluster = LocalCluster(n_workers=workers, **settings)
        with cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(scheduler, timeout=10)
    except (OSError, ValueError) as error:
        raise CampaignError(f"no scheduler answers at {scheduler}: {error}") from None
    with client:
        yield client
