"""Rows of a form: a name, a control for one value, a reset button, and a warning."""
