"""An evaluation on the workers of a Dask cluster: `worker` makes answers there, `client` is the command's end."""
