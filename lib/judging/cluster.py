"""Spreading requests over a Dask cluster, where one machine is too small. Dask is an optional requirement."""

from __future__ import annotations

from concurrent.futures import Executor

from lib.errors import UserError


def dask_executor(address: str) -> Executor:
    """An executor on the workers of a Dask scheduler, such as ``tcp://127.0.0.1:8786``.

    Raises UserError where Dask is not installed or no scheduler answers.
    """
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise UserError("--cluster needs Dask: pip install -r requirements-cluster.txt") from error
    try:
        executor: Executor = Client(address).get_executor()
    except (OSError, ValueError) as error:
        raise UserError(f"No Dask scheduler answers at {address}: {error}") from error
    return executor
