"""Whether a gateway speaks the protocols: a series of small requests, what is made of each answer, and the report."""
