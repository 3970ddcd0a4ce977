"""The conversation of an experiment in several lanes at once, and the differences between them."""
