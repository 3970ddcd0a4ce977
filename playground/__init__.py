"""Gateway Playground: a desktop window onto what a model gateway is sent and what it sends back."""

__version__ = "1.0.0"
