"""Errors of the program itself: a report without secrets, and a calm message."""
