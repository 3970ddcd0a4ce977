"""Evaluate in the window: cases × variants × repeats, their answers, and what follows from them."""
