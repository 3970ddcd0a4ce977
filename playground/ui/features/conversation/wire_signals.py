"""What turns and calls ask for that is about the wire: their frames, and a comparison. Others do it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class WireSignals(QObject):
    """``frames_asked`` carries the ids of a turn and of a call in it, empty for the turn itself."""

    frames_asked = Signal(str, str)
    compare_asked = Signal(str)  # turn id
    lint_asked = Signal(str)  # turn id
    hole_asked = Signal(str)  # turn id

    def show_turn(self, turn_id: str) -> None:
        """Show the first frame that brought something of a turn."""
        self.frames_asked.emit(turn_id, "")

    def show_call(self, turn_id: str, call_id: str) -> None:
        """Show the frame that carried a call."""
        self.frames_asked.emit(turn_id, call_id)

    def compare(self, turn_id: str) -> None:
        """Compare the exchange that brought a turn with another one."""
        self.compare_asked.emit(turn_id)

    def lint(self, turn_id: str) -> None:
        """List what the stream that brought a turn did differently from the specification."""
        self.lint_asked.emit(turn_id)

    def hole(self, turn_id: str) -> None:
        """Show what of a turn could not be read."""
        self.hole_asked.emit(turn_id)
