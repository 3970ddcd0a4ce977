"""What is wrong with a text that is to be JSON, in plain words, and where: said alike by all who read one."""

from __future__ import annotations

from typing import Final

TEXT_AFTER_END: Final = "there is more text after the end of the JSON"
NOTHING: Final = "there is nothing here"
NO_VALUE: Final = "a value is missing here"
NO_MEMBER: Final = "the value of this name is missing"
NO_NAME: Final = "a name in double quotes is missing here"
NO_COLON: Final = "a colon is missing"
NO_COMMA: Final = "a comma is missing"
COMMA_TOO_MANY: Final = "a comma too many"
NO_BRACKET: Final = "a closing bracket is missing"
NO_CLOSING_QUOTE: Final = "this text has no closing quote"
CONTROL_CHARACTER: Final = "a line break or control character in a text; write it as an escape such as \\n"
ODD_ESCAPE: Final = "this escape does not exist in JSON; a backslash itself is written \\\\"


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of a place in a text."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


class JsonTextError(ValueError):
    """A text that is not JSON, or an edit that its place does not allow. Line and column count from 1."""

    def __init__(self, text: str, offset: int, message: str) -> None:
        self.offset = offset
        self.message = message
        self.line, self.column = position(text, offset)
        super().__init__(f"line {self.line}, column {self.column}: {message}")
