"""The address of a Dask scheduler, tried before anything is computed."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

PROTOCOLS = ("tcp", "tls", "ws", "wss")
ANSWER_SECONDS = 4  # in which the machine must answer
START_ONE = "start `dask scheduler` there, and give its address as tcp://HOST:PORT"


def check_scheduler(address: str) -> None:
    """Refuse an address at which nobody listens; what listens is asked by whoever connects.

    Raises
    ------
    ValueError
        It is no address.
    RuntimeError
        Nobody answers there, within `ANSWER_SECONDS`.
    """
    host, port = _parts(address)
    try:
        with socket.create_connection((host, port), timeout=ANSWER_SECONDS):
            pass
    except OSError as error:
        said = error.strerror or str(error)
        raise RuntimeError(
            f"scheduler is {address!r}: no Dask scheduler answers there ({said}); {START_ONE}"
        ) from None


def _parts(address: str) -> tuple[str, int]:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:  # of a port that is no number
        host = port = None
    if not host or not port or parts.scheme not in PROTOCOLS or parts.path.strip("/"):
        raise ValueError(
            f"scheduler is {address!r}: expected the address of a Dask scheduler, such as "
            "tcp://10.0.0.5:8786"
        )
    return host, port
