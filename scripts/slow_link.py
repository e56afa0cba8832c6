"""A slow link of a host, for kernels without netem: it holds frames back between two TAP devices.

    python scripts/slow_link.py PORT INSIDE MILLISECONDS MEGABITS

It makes both: a port of the switch, and a device for the host. Frames from the host arrive late by
the latency; each direction has the rate, and a queue as long as that of netem.
"""

from __future__ import annotations

import os
import select
import struct
import sys
import time
from collections import deque
from contextlib import suppress
from fcntl import ioctl
from typing import NoReturn

TUNSETIFF = 0x400454CA
TAP, NO_HEADER = 0x0002, 0x1000
FRAME_BYTES = 65_536
QUEUE = 1000  # frames


def device(name: str) -> int:
    """Make a TAP device in this network namespace; return a file of its frames."""
    number = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    ioctl(number, TUNSETIFF, struct.pack("16sH22x", name.encode(), TAP | NO_HEADER))
    return number


class Direction:
    """Frames on their way from one device to another.

    Parameters
    ----------
    source, sink : int
        Files of the devices.
    latency : float
        Seconds.
    rate : float
        Bytes per second.
    """

    def __init__(self, source: int, sink: int, latency: float, rate: float) -> None:
        self.source, self.sink = source, sink
        self._latency, self._rate = latency, rate
        self._frames: deque[tuple[float, bytes]] = deque()
        self._free = 0.0  # the moment at which the line has sent all frames

    def take(self) -> None:
        """Take a frame from the source; drop it if the queue is full."""
        frame = os.read(self.source, FRAME_BYTES)
        if len(self._frames) < QUEUE:
            self._free = max(self._free, time.monotonic()) + len(frame) / self._rate
            self._frames.append((self._free + self._latency, frame))

    def give(self) -> float | None:
        """Pass on the frames that are due; return the seconds until the next one is."""
        while self._frames:
            left = self._frames[0][0] - time.monotonic()
            if left > 0:
                return left
            with suppress(OSError):  # the device is down: the frame is lost
                os.write(self.sink, self._frames.popleft()[1])
        return None


def main(port: str, inside: str, milliseconds: str, megabits: str) -> NoReturn:
    """Make the devices, and pass frames on until this process is killed or a device is removed."""
    outer, inner = device(port), device(inside)
    latency, rate = float(milliseconds) / 1e3, float(megabits) * 1e6 / 8
    ways = [Direction(inner, outer, latency, rate), Direction(outer, inner, 0, rate)]
    by_source = {way.source: way for way in ways}
    while True:
        waits = [left for way in ways if (left := way.give()) is not None]
        ready, _, _ = select.select([*by_source], [], [], min(waits, default=None))
        for source in ready:
            try:
                by_source[source].take()
            except BlockingIOError:
                pass
            except OSError:  # the device is removed
                sys.exit()


if __name__ == "__main__":
    main(*sys.argv[1:])
