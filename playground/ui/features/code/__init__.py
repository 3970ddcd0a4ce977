"""The request as code, and a request from what is pasted."""
