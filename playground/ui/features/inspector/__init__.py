"""What went over the wire for the selected exchange."""
