"""Decides what happens next: sessions and their runs, gateways, keys. No Qt, no wire format."""
