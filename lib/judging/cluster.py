"""Spreading requests over a Dask cluster, where one machine is too small. Dask is an optional requirement."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager

from lib.errors import UserError


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """An executor on the workers of a Dask scheduler, such as ``tcp://127.0.0.1:8786``; disconnects at the end.

    Raises UserError where Dask is not installed, no scheduler answers, or the cluster dies meanwhile.
    """
    try:
        from distributed import Client, KilledWorker
        from distributed.comm.core import CommClosedError
    except ModuleNotFoundError as error:
        raise UserError("--cluster needs Dask: pip install -r requirements-cluster.txt") from error
    try:
        client = Client(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UserError(f"No Dask scheduler answers at {address}: {error}") from error
    with client:
        # Asking a model is no pure function: each request is one of its own, even where the arguments are equal.
        executor: Executor = client.get_executor(pure=False)
        try:
            yield executor
        except (KilledWorker, CancelledError, CommClosedError) as error:
            raise UserError(
                f"The Dask cluster at {address} lost its scheduler or its workers ({type(error).__name__})."
                " Everything collected is kept; start the cluster, then run the same command again."
            ) from error
