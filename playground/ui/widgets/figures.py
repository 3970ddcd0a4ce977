"""Format the metrics of a turn: times, rates, tokens, ending. Estimates are marked. No Qt here."""

from __future__ import annotations

from itertools import islice

from playground.domain.model_facts import BY_LIST
from playground.domain.parts import Reasoning
from playground.domain.tokens import estimate_tokens as estimate_tokens
from playground.domain.transcript import LIMIT_REASONS, Ending, Outcome, Turn
from playground.domain.usage import Usage
from playground.jsonkit.texts import quantity


def seconds(value: float) -> str:
    """Format a duration: ``0.42 s``, ``12.3 s``, ``2 min 5 s``."""
    if value < 10:
        return f"{value:.2f} s"
    if value < 100:
        return f"{value:.1f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def size(count: int) -> str:
    """Format a number of bytes: ``512 bytes``, ``12 KB``, ``1.5 MB``."""
    if count < 1024:
        return f"{count} bytes"
    return f"{count / 1024:.0f} KB" if count < 1024 * 1024 else f"{count / 1024 / 1024:.1f} MB"


def figures(turn: Turn, cost: str = "") -> list[str]:
    """Return the metrics of a turn: ``first token 0.42 s``, ``86 tok/s``, ``214 tok`` and the cost, if available.

    For one of several choices only the length is its own; the gateway counts all choices together.
    """
    outcome = turn.outcome
    if outcome is None:
        return [cost] if cost else []
    parts: list[str] = []
    timing, usage = outcome.timing, outcome.usage
    if timing is not None and timing.first_token is not None:
        parts.append(f"first token {seconds(timing.first_token)}")
    exact = usage.completion if usage is not None else None
    tokens = exact if exact is not None else _estimate(turn)
    mark = "" if exact is not None else "≈ "
    if tokens and timing is not None and (writing := timing.writing) is not None:
        parts.append(f"{mark}{tokens / writing:.0f} tok/s")
    if tokens:
        parts.append(f"{mark}{tokens:,} tok")
    if cost:
        parts.append(cost)
    if outcome.choices == 1 or exact is None:
        return parts
    length = _estimate(turn)
    return [f"{of_all(outcome.choices)}: {', '.join(parts)}", *([f"this one ≈ {length:,} tok"] if length else [])]


def of_all(choices: int) -> str:
    """Return the label of metrics that cover all choices of a request."""
    return f"all {choices} choices"


def waiting_words(*, starting: bool = False) -> str:
    """Return the text shown before the first token; ``starting`` means that the request is not sent yet."""
    return "Starting…" if starting else "Waiting for the first token…"


def live_figures(elapsed: float, deltas: int) -> list[str]:
    """Return the metrics of a turn that streams; the number of fragments estimates its tokens."""
    return [seconds(elapsed), *([f"≈ {deltas:,} tok"] if deltas else [])]


def reasoning_line(turn: Turn, part: Reasoning) -> str:
    """Return the time and tokens of reasoning, ``1.80 s · 96 tokens``; for one of several choices both are estimates.

    The measurements cover all reasoning of the turn, so one of several parts has only its estimated length.
    """
    outcome = turn.outcome
    parts: list[str] = []
    visible = (item for item in turn.parts if item.kind == "reasoning" and (item.text or item.redacted))
    if len(list(islice(visible, 2))) > 1:
        return f"≈ {quantity(estimate_tokens(part.text), 'token')}" if part.text else ""
    timing = outcome.timing if outcome else None
    is_measured = outcome is None or outcome.choices == 1
    if timing and timing.first_reasoning is not None:
        end = timing.reasoning_end if timing.reasoning_end is not None else timing.end
        if end is not None:
            parts.append(f"{'' if is_measured else '≈ '}{seconds(max(end - timing.first_reasoning, 0))}")
    usage = outcome.usage if outcome else None
    if usage and usage.reasoning and is_measured:
        parts.append(quantity(usage.reasoning, "token"))
    elif part.text:
        parts.append(f"≈ {quantity(estimate_tokens(part.text), 'token')}")
    return " · ".join(parts)


def hole_words(outcome: Outcome) -> str:
    """Return the parts of an answer that could not be read, one per line; empty if nothing is missing."""
    notes = dict(outcome.deviations)
    return "\n".join(f"• {notes.get(code, code)}" for code in outcome.holes)


def ending_words(outcome: Outcome, most: int | None = None) -> tuple[str, str]:
    """Return the reason why a turn ended as the text of a chip, and its explanation for the tooltip.

    ``most`` is the model's output limit in tokens by the gateway's list; None if unknown.
    """
    reason = outcome.finish_reason
    if outcome.ending is Ending.STOPPED:
        return "stopped", "You stopped it. The received part is saved."
    if outcome.ending is Ending.CUT_OFF:
        return "cut off", "The stream ended without a finish reason."
    if outcome.ending is Ending.INTERRUPTED:
        return "interrupted", "The app ended while this was being received. The received part is saved."
    if outcome.ending is Ending.FAILED:
        return "failed", "See the error below."
    explanations = {
        "stop": "Natural end, or a stop sequence was hit.",
        "length": "The limit on completion tokens was reached.",
        "tool_calls": "The model is calling a tool.",
        "content_filter": "Content was filtered.",
        "end_turn": "Natural end.",
        "completed": "Natural end, or the model is calling a tool.",
        "max_output_tokens": "The limit on output tokens was reached.",
        "max_tokens": "The limit on tokens was reached.",
        "stop_sequence": "A stop sequence was hit.",
        "tool_use": "The model is calling a tool.",
        "refusal": "The model refused.",
        "model_context_window_exceeded": "The conversation and the answer fill the model's context window.",
        "pause_turn": "The model paused its turn. Sent back unchanged, it goes on.",
        "error": "The gateway ended the answer with an error and gave no message.",
    }
    if reason is None:
        if "no_finish_reason" in dict(outcome.deviations):
            return "no finish reason", "The answer ended without saying why: it may be cut off."
        return "", ""
    completion = outcome.usage.completion if outcome.usage is not None and outcome.choices == 1 else None
    if reason in LIMIT_REASONS and most is not None and completion is not None and completion >= most:
        return (
            reason,
            f"{explanations[reason]} The model wrote {completion:,} tokens, the most that it writes {BY_LIST}.",
        )
    return reason or "(empty)", explanations.get(
        reason, "A finish reason beyond the specification's table, shown as it came."
    )


def usage_line(usage: Usage | None, choices: int = 1) -> str:
    """Return token counts, ``412 in · 214 out (96 reasoning, 128 cached)``, labelled if they cover several choices."""
    if usage is None:
        return ""
    parts: list[str] = []
    if usage.prompt is not None:
        parts.append(f"{usage.prompt:,} in")
    if usage.completion is not None:
        parts.append(f"{usage.completion:,} out")
    details = [
        f"{value:,} {name}" for name, value in (("reasoning", usage.reasoning), ("cached", usage.cached)) if value
    ]
    words = " · ".join(parts) + (f" ({', '.join(details)})" if details else "")
    return f"{of_all(choices)}: {words}" if words and choices > 1 else words


def share_line(usage: Usage | None, choices: int, context: int | None) -> str:
    """Return the share of the context that an answer uses, ``3 % of 128,000 tok``; empty if unknown."""
    if usage is None or usage.prompt is None or context is None or choices > 1:
        return ""
    share = 100 * (usage.prompt + (usage.completion or 0)) / context
    return f"{'< 1' if 0 < share < 1 else f'{share:,.0f}'} % of {context:,} tok"


def _estimate(turn: Turn) -> int:
    arguments = "".join(call.arguments for call in turn.calls)
    return estimate_tokens(turn.text + turn.reasoning + arguments)
