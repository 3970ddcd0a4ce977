"""Cases from files that others wrote: tables and configurations. What cannot be taken is named."""
