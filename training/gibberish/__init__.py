"""The model `models/gibberish`, which detects gibberish."""

# The label names of llm-guard's model.
CLEAN, MILD, SALAD, NOISE = range(4)
LABELS = ("clean", "mild gibberish", "word salad", "noise")
