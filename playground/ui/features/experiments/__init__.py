"""The list of experiments at the left."""
