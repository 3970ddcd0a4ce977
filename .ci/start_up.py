"""How long the frozen application takes to its first window, against the same wheel installed by pip, in one run.

Usage: start_up.py FROZEN INSTALLED FOLDER, on the display in DISPLAY; what they keep goes below FOLDER. Both are
started in turn, several times; the best of each counts, since everything else a machine does can only make it slower.
Where the ratio is too large both are started again, as often as before, a few times: a machine that had no quiet
moment for one of them has one later, and what is slower stays slower. Ends with 1 when the frozen one takes more than
1.3 times as long.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 5
LOOKS = 4  # at so many rounds each
LIMIT = 1.3
SECONDS = 30.0


def main(frozen: str, installed: str, folder: str) -> int:
    """Measure, print, judge."""
    home = Path(folder).absolute()
    home.mkdir(parents=True, exist_ok=True)
    os.environ.update({"HOME": str(home), "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"})
    for place in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
        os.environ.pop(place, None)
    for program in (frozen, installed):
        until_window(program)  # warms the disk's cache
    took: dict[str, list[float]] = {frozen: [], installed: []}
    for look in range(1, LOOKS + 1):
        for _ in range(ROUNDS):
            for program, seconds in took.items():
                seconds.append(until_window(program))
        best, against = min(took[frozen]), min(took[installed])
        ratio = best / against
        print(
            f"first window, look {look}: frozen {best:.2f} s, installed {against:.2f} s, ratio {ratio:.2f} (≤ {LIMIT})",
            flush=True,
        )
        if ratio <= LIMIT:
            return 0
    for program, seconds in took.items():
        print(program, " ".join(f"{each:.2f}" for each in seconds))
    return 1


def until_window(program: str) -> float:
    """Seconds from the start of a program to its window on the screen; it is ended afterwards."""
    began = time.monotonic()
    process = subprocess.Popen([program], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        command = ["xdotool", "search", "--onlyvisible", "--pid", str(process.pid), "--name", "Playground"]
        while subprocess.run(command, capture_output=True, check=False).returncode:
            if process.poll() is not None:
                told = process.communicate()[1].decode(errors="replace")
                raise SystemExit(f"{program} ended with {process.returncode} and opened no window: {told}")
            if time.monotonic() - began > SECONDS:
                raise SystemExit(f"{program} opened no window in {SECONDS:g} s")
            time.sleep(0.002)
        return time.monotonic() - began
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
