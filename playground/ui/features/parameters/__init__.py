"""The form of a request's parameters, built from their annotated fields."""
