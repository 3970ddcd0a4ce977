"""Refusals of the Responses protocol: message, type, code and the parameter that caused them."""

from __future__ import annotations

from playground.demo.problems import INVALID, ApiError
from playground.demo.request_body import escape_surrogates


class ResponsesError(ApiError):
    """An error in the body of the public protocol: ``{error: {message, type, param, code}}``."""

    def __init__(self, message: str, *, reason: str | None = None, param: str | None = None, status: int = 400) -> None:
        super().__init__(status, INVALID, message)
        self.reason = reason
        self.param = param

    def body(self) -> dict[str, object]:
        error = {"message": self.message, "type": "invalid_request_error", "param": self.param, "code": self.reason}
        return {"error": error}


class MemberError(ValueError):
    """A fault that a validator finds: ``where`` continues the path of the value that is validated."""

    def __init__(self, message: str, reason: str, where: str = "") -> None:
        self.message = escape_surrogates(message)
        super().__init__(self.message)
        self.reason = reason
        self.where = where


def unsupported_value(value: object, supported: list[str], where: str = "") -> MemberError:
    """Return the fault of a value that is none of the supported ones."""
    return MemberError(f"Invalid value: '{value}'. Supported values are: {listed(supported)}.", "invalid_value", where)


def listed(names: list[str]) -> str:
    """Return the names quoted, with "and" before the last."""
    quoted = [f"'{name}'" for name in names]
    if len(quoted) < 3:
        return " and ".join(quoted)
    return f"{', '.join(quoted[:-1])}, and {quoted[-1]}"


def not_found(kind: str, item_id: str, param: str | None = None) -> ResponsesError:
    """Return the 404 for an unknown id."""
    return ResponsesError(f"{kind} with id '{item_id}' not found.", status=404, param=param)


def context_too_long() -> ResponsesError:
    """Return the refusal of an input that is longer than the window, with truncation disabled."""
    message = "Your input exceeds the context window of this model. Please adjust your input and try again."
    return ResponsesError(message, reason="context_length_exceeded", param="input")
