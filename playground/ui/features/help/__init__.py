"""Help inside the application: pages to read, what it is made of, and whether there is a newer version."""
