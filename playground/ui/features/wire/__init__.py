"""The wire and the conversation, tied: frames of a turn and turns of frames, two runs side by side."""
