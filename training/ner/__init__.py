"""The NER model for people, places and organisations: labels and limits."""

NAME = "ner"
VERSION = "0.5.0"
# The training languages, each with measured figures.
LANGUAGES = (
    "am ar bn da de el en es fa fi fr hi hr hu id it ja kk ko lv ne nl no pl pt ro ru sk sr sv sw th tr uk vi zh"
).split()
TYPES = ["PERSON", "LOCATION", "ORGANIZATION"]
# The BIO scheme (Ramshaw and Marcus, 1995, arXiv:cmp-lg/9505040): B- begins a name, I- continues it.
LABELS = ["O", *(f"{prefix}-{kind}" for kind in TYPES for prefix in "BI")]
# The maximum tokens of a text in training, and the tokens of a window in the product: shorter windows cost less and find as many names.
MAX_LENGTH, READ_LENGTH = 256, 128
