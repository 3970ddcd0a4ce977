"""Print by how many bytes a process grows that opens an experiment file, and the error if there is one.

The argument names a small file; each line of standard input names a file to open. A fork opens each file, so that no
process has to load the modules again. POSIX only.
"""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

import playground.engine.session.session  # noqa: F401 - loaded before memory is measured
from playground.engine.files.experiment_file import ExperimentFileError, open_file


def print_growth(small: Path, path: Path) -> None:
    open_file(small)  # memory that a fork needs for itself
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    error = ""
    try:
        opened = open_file(path)  # noqa: F841 - it counts as memory in use
    except ExperimentFileError as refused:
        error = str(refused)
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(growth * (1 if sys.platform == "darwin" else 1024), error, flush=True)


def main() -> None:
    small = Path(sys.argv[1])
    open_file(small)  # memory of the first use
    for line in sys.stdin:
        child = os.fork()
        if not child:
            print_growth(small, Path(line.rstrip()))
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            break


if __name__ == "__main__":
    main()
