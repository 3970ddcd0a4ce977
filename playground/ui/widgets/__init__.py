"""Controls and helpers that know no feature: fields, editors, layouts, icons, theme, dialogs, the event loop."""
