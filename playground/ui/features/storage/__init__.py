"""Where experiments are kept: what is said of it, what is set about it, copies of it."""
