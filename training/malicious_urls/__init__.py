"""The model that recognises malicious URLs (benign, phishing, malware, defacement): `models/malicious-urls`."""
