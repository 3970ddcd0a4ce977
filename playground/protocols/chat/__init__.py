"""The chat-completions protocol; see ``playground.protocols.chat.protocol``."""
