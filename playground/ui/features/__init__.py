"""The features of the window, a folder each."""
