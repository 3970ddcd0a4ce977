"""The system around the program: folders, files, log, screen, names of this machine, and missing libraries."""
