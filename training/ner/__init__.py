"""Names of people, places and organisations: labels and limits of the model."""

NAME = "ner"
VERSION = "0.2.0"
TYPES = ["PERSON", "LOCATION", "ORGANIZATION"]
# The BIO scheme (Ramshaw and Marcus, 1995, arXiv:cmp-lg/9505040): B- begins a name, I- goes on with it.
LABELS = ["O", *(f"{prefix}-{kind}" for kind in TYPES for prefix in "BI")]
# Tokens of a text in training, and of what is read at a time: less costs less, and finds as much.
MAX_LENGTH, READ_LENGTH = 256, 128
