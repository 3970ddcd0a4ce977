"""The inspector: requests, responses and their events, tool calls and branches of an experiment."""
