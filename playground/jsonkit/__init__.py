"""JSON and JSON Schema: read whole or in part with positions, edited in place, laid out, walked, sampled, checked.

Nothing here knows what the JSON is for; nothing of ours is imported.

- values: what they are and when they are the same (`values`), one laid over another (`merge`)
- reading: what is to be JSON (`reading`), what strangers sent (`foreign`), with positions, whole or arriving
  (`tree`)
- writing: values and texts laid out (`layout`), a text changed in place in its own style (`edit`), large ones
  (`pieces`)
- schemas: what stands inside (`schema_refs`), as a form (`schema_fields`, `schema_slots`) that edits a text
  (`schema_edit`), what is demanded of a place (`schema_views`), what fits (`schema_sample`, `pattern_text`)
- what is wrong with a text (`problems`) or a value (`validation`, `patterns`), what it costs to see
  (`limits`), and how much of it is told (`texts`)
"""
