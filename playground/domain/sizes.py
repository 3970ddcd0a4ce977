"""Human-readable numbers of bytes."""

from __future__ import annotations


def size_words(size: int) -> str:
    """Format a number of bytes: ``812 bytes``, ``412 KB``, ``5.2 MB``."""
    if size < 1_000:
        return f"{size} bytes"
    if size < 999_500:
        return f"{size / 1_000:.0f} KB"
    return f"{size / 1_000_000:.1f} MB".replace(".0 ", " ")
