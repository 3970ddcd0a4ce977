"""The experiments there are: open, listed, searched, deleted, and kept on the disk."""
