"""The model of malicious URLs: benign, phishing, malware, defacement."""
