"""Reading and writing files as a whole, weighed before they become values."""
