"""Tests of the views of an evaluation."""
