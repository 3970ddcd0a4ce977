"""The sentences of Listen in the window."""

from __future__ import annotations

from typing import Final

HEADING: Final = "See what another program sends"
EXPLANATION: Final = (
    "Point a program at an address of this app instead of its usual one. "
    "Each request is passed on unchanged to the gateway below, and the answer goes back to the program. "
    "You see both here, and can stop a request or the tool calls of an answer before they go on."
)
START: Final = "Start listening"
STOP: Final = "Stop"
STOPPED: Final = "Not listening"
STARTING: Final = "Starting…"
WAITING: Final = "Waiting for the first request…"
PASTE: Final = "Give one of these settings to the program, then start it."
CONSENT_TITLE: Final = "Record requests"
CONSENT: Final = "Record everything that the program sends and receives?"
CONSENT_MORE: Final = (
    "A recording has the full text of all requests and answers: system prompts, source code, file contents and results "
    "of tools. Keys are removed. Other secrets in the texts are not recognised. The recording stays on this computer, "
    "in {folder}, until you delete it. This question is asked once."
)
CONSENT_YES: Final = "Record"
UNDER_WAY_TITLE: Final = "Stop listening"
UNDER_WAY: Final = "{count} under way. Stop listening?"
UNDER_WAY_MORE: Final = "The program gets an error for each of them. Received data is kept."
NO_MATCH: Final = "No matching requests."
SELECT: Final = "Select a request to see it."
NOT_LOADED: Final = "This exchange could not be read: {problem}"
CHOOSE_TWO: Final = "Select two requests to compare them."
NOT_UNDERSTOOD: Final = "This request is of no API known here, so it cannot be opened as an experiment."
NO_CASES: Final = "None of the selected requests has a question to make a case of."
TABLE_NO_ROW: Final = "No row of the table fits this request."
EXCHANGES_STILL_RUN: Final = "Wait for the end of the exchange, or stop listening."
HELD_REQUEST: Final = "Request paused"
HELD_ANSWER: Final = "Answer paused at its tool calls"
SENT_ALREADY: Final = "The pause is over: the exchange went on."
QUIT: Final = "Quit"
QUIT_AND_END: Final = "End and quit"
PROGRAM_RUNS: Final = "{count} running under Listen. End and quit?"
PROGRAM_RUNS_MORE: Final = "Listening stops as well. Received data is kept."
