"""The tool-call debugger's own places in the window: rules, answer tables, forks, the list of calls, stability."""
