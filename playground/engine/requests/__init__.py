"""Requests before they go out: shown, edited by hand, pasted, written as code, carried to another protocol."""
