"""The model `models/language`, which detects the natural language of a text."""
