"""The model that recognises the natural language of a text: `models/language`."""
