"""The tree of an experiment's turns as a small map: to look at and to jump in."""
