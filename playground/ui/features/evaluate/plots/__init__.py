"""Plots of an evaluation: worked out beside the window, drawn by pyqtgraph once they are looked at."""
