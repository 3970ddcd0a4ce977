"""What an evaluation is made of, beside its answers: variants, cases, checks, and how it is run."""
