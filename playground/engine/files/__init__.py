"""Files that people bring and take away: experiments, messages, presets, answer tables, images, tools, exports."""
