"""Training of the small models that guard ships in models/."""
