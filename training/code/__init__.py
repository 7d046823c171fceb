"""The model `models/code`, which detects programming languages."""
