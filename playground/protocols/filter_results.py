"""Name the categories that a content filter stopped, from the results that gateways send with an answer or an error."""

from __future__ import annotations

from playground.jsonkit import foreign
from playground.jsonkit.values import JSON


def filter_words(results: JSON) -> str:
    """Return "Filtered: violence (medium), jailbreak" for results by category; empty where none was filtered.

    ``results`` is an object such as ``{"violence": {"filtered": true, "severity": "medium"}}``, or a list of objects
    that hold one (``prompt_filter_results``).
    """
    if isinstance(results, list):
        texts = [
            filter_words(item.get("content_filter_results", item)) for item in results[:20] if isinstance(item, dict)
        ]
        return next((text for text in texts if text), "")
    if not isinstance(results, dict):
        return ""
    names = []
    for name, result in list(results.items())[:50]:
        if isinstance(result, dict) and result.get("filtered") is True:
            severity = foreign.text_of(result.get("severity"))
            names.append(foreign.whole(name[:80]) + (f" ({severity[:40]})" if severity else ""))
    return f"Filtered: {', '.join(names)}" if names else ""
