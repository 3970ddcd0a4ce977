"""Values for the variables of a conversation, and the text with the values in it."""
