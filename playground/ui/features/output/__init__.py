"""The format of the answer: text, JSON, or JSON that follows a schema."""
