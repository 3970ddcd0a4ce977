"""Gateway Playground: a desktop window onto what a model gateway is sent and what it sends back."""

__version__ = "0.1.0"
