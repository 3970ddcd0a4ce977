"""Cases asked in variants, again and again, and held to checks: what is asked, the answers, what follows from them."""
