"""The Responses protocol: items instead of messages, and typed events."""
