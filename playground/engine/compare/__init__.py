"""The same conversation in several ways at once: its lanes, and what differs between them."""
