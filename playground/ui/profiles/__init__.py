"""Part of the window; see the package docstring of playground.ui."""
