"""How things are spelled on the wire. Sans-IO: bytes in, events out; a request in, JSON out."""
