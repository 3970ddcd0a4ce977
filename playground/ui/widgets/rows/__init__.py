"""Rows of a form: a name, a control for one value, a way back to its default, and what is odd about it."""
