"""Forms and their rows."""
