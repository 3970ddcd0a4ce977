"""The refusals of the gateway: one exception that knows its status and its error body (specification, 7.2).

Beside the documented members the body holds what the clients of all protocols look for: without ``error.message`` a
person would read no more than the status there.
"""

from __future__ import annotations

from collections.abc import Mapping

# Service-specific codes: the status and two digits. The specification leaves their values open.
INVALID = 40001
NOT_JSON = 40002
TOO_LONG = 40003
NO_KEY = 40101
WRONG_KEY = 40102
EXPIRED = 40103
NO_BALANCE = 40201
NOT_VERIFIED = 40301
NO_MODEL = 40401
NO_PATH = 40402
WRONG_METHOD = 40501
TOO_LARGE = 41301
OTHER_TYPE = 41501
OTHER_HOST = 42101
NO_UPGRADE = 42601
TOO_MANY = 42901
BROKEN = 50001
BAD_GATEWAY = 50201
OVERLOADED = 50301
TIMED_OUT = 50401

#: What the public protocols call the kinds of errors, by status.
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    413: "request_too_large",
    415: "invalid_request_error",
    421: "permission_error",
    426: "invalid_request_error",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}


class ApiError(Exception):
    """A request that is answered with an error: ``status``, ``code``, a message, and headers of its own."""

    def __init__(self, status: int, code: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})

    def body(self) -> dict[str, object]:
        """The error body: ``{code, message, data: null}`` as documented, and the same in the public protocols' form."""
        error = {"type": _TYPES.get(self.status, "api_error"), "code": self.code, "message": self.message}
        return {"code": self.code, "message": self.message, "data": None, "type": "error", "error": error}


def invalid(message: str) -> ApiError:
    """A 400 for a parameter or a message that is not right."""
    return ApiError(400, INVALID, message)
