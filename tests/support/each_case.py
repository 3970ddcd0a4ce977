"""Many quick cases of a check in one test, in the place of ``pytest.mark.parametrize``.

Parametrized items cost collection, reports and scheduling each. Use this where cases take no time of their own.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

_LONGEST = 300


def each_case(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call the test with each case and report all that fail, each with its arguments.

    ``names`` are those of the parameters, as for ``pytest.mark.parametrize``; with several, a case is a sequence.
    """
    parameters = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    arguments = [dict(zip(parameters, case if len(parameters) > 1 else (case,), strict=True)) for case in cases]
    assert arguments, "no cases"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**others: Any) -> None:
            failures = [failure for case in arguments if (failure := _failure(test, {**case, **others})) is not None]
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(arguments)} cases failed", failures)

        signature = inspect.signature(test)
        remaining = [parameter for name, parameter in signature.parameters.items() if name not in parameters]
        run.__signature__ = signature.replace(parameters=remaining)  # type: ignore[attr-defined]
        return run

    return decorate


def _failure(test: Callable[..., None], case: dict[str, Any]) -> Exception | None:
    failure: Exception
    try:
        test(**case)
    except pytest.fail.Exception as failed:  # as of ``pytest.raises``; no subclass of Exception
        failure = AssertionError(str(failed)).with_traceback(failed.__traceback__)
    except Exception as error:
        failure = error
    else:
        return None
    failure.add_note(f"case: {', '.join(f'{name}={value!r}' for name, value in case.items())}"[:_LONGEST])
    return failure
