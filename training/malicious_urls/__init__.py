"""The model `models/malicious-urls`, which classifies URLs: benign, phishing, malware."""
