"""The window around the features: its regions, bars, actions, start and end."""
