"""Where the time of an exchange went, and every frame of it."""
