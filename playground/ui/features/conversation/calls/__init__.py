"""Tool calls as cards: the arguments as they form, what is wrong with them, what was changed, and the result."""
