"""The centre: turns, drawn only where they are seen, and the composer below them."""
