"""Exchanges in files: saved as cassettes, replayed as an experiment, exported as HTTP archives."""
