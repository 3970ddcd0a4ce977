"""The native messages protocol; see ``playground.protocols.messages.protocol``."""
