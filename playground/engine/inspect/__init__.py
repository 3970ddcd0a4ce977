"""Looking at what went over the wire: frames, timeline, lint, comparisons, calls, advice. Changes nothing."""
