"""An evaluation on the machines of a Dask cluster: what travels, who makes answers there, and who keeps them here.

``fleet`` is where the command is, and alone keeps answers; ``hand`` makes them on a worker, as one process does;
``post`` is between them at the scheduler, with the ``leases`` of what a gateway takes. Only ``fleet`` and ``plugins``
know Dask. No key is in anything that travels: a worker reads it from its own environment.
"""
