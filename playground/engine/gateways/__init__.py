"""Gateways as people set them up: profiles, keys, what is known of them, whether they answer."""
