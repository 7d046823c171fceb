"""Training of the small models that guard ships in the folder `models/`."""
