"""JSON and JSON Schema: read whole or in part with positions, edited in place, walked, sampled, checked."""
