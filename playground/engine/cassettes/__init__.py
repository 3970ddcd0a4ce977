"""Recorded exchanges: in files, replayed as an experiment, served as a gateway."""
