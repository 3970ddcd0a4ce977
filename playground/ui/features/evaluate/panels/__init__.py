"""Panels of the plan of an evaluation: variants, cases, checks, and run options."""
