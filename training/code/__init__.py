"""The model that recognises programming languages: `models/code`."""
