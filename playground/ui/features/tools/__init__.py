"""The tools on offer: a list and, for one of them, a form beside its JSON."""
