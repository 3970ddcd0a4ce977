"""Print the modules that a fresh interpreter has loaded after it imported some, as JSON.

``loaded_modules.py import NAME...`` imports those modules; ``loaded_modules.py run ARGUMENT...`` runs our command line.
"""

from __future__ import annotations

import importlib
import io
import json
import sys


def main() -> None:
    output, sys.stdout = sys.stdout, io.StringIO()
    task, *arguments = sys.argv[1:]
    if task == "import":
        for name in arguments:
            importlib.import_module(name)
    else:
        from playground import cli

        sys.argv[1:] = arguments
        try:
            code: object = cli.main()
        except SystemExit as end:
            code = end.code
        assert not code, code
    json.dump(sorted(sys.modules), output)


if __name__ == "__main__":
    main()
