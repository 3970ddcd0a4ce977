"""One open experiment: what is set, its turns and every way back, its runs and the debugger of its tool calls."""
