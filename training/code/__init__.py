"""The model of programming languages: `models/code`."""
