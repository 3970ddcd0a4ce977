"""Serve the demo gateway until an interrupt that comes once it has printed its address."""

from __future__ import annotations

import _thread
import signal
import threading

from playground.demo.server import DemoConfig, serve_forever

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with it ignored


def print_address(address: str) -> None:
    print(address, flush=True)
    threading.Timer(0.3, _thread.interrupt_main).start()


serve_forever(DemoConfig(), print_address)
print("ended")
