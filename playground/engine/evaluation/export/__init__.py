"""An evaluation for others to read: rows, test results, one page, and what other tools take in."""
