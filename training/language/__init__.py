"""The language model: which natural language a text is in."""
