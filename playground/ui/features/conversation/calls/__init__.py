"""Cards of tool calls: streamed arguments with their problems and edits, and the result."""
