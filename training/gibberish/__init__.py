"""The model of gibberish: `models/gibberish`."""

# As llm-guard's model names them.
CLEAN, MILD, SALAD, NOISE = range(4)
LABELS = ("clean", "mild gibberish", "word salad", "noise")
