"""Runs without a window: the file that is asked for, how it goes, what it brought, how it ended."""
