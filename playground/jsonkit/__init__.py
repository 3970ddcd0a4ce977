"""JSON and JSON Schema: read with positions, edited in place, laid out, sampled and checked.

Nothing here knows the purpose of the JSON, and no other package of the program is imported.

- values: types and equality (`values`), merging (`merge`), bounds of size and depth (`nesting`)
- reading: strict (`reading`), lenient (`foreign`, `relaxed`), with positions, complete or streamed (`tree`), tokens
  (`tokens`)
- writing: indented texts (`layout`), edits that keep the style of a text (`edit`), values over a pipe (`framed`)
- schemas: versions (`drafts`), references (`schema_refs`), forms (`schema_fields`, `schema_slots`) and their edits
  (`schema_edit`), requirements on one place (`schema_views`), samples (`schema_sample`, `pattern_text`)
- problems of texts (`problems`) and values (`validation`, `patterns`), and the cost of checks (`limits`)
"""
