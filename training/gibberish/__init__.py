"""The model that recognises gibberish: `models/gibberish`."""

# The labels have the names that llm-guard's model uses.
CLEAN, MILD, SALAD, NOISE = range(4)
LABELS = ("clean", "mild gibberish", "word salad", "noise")
