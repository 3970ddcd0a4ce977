"""What goes out besides the parameters: the extra body, extra headers, and reasoning sent back."""
