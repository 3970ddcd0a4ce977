"""What a person does in the window: a folder a feature."""
