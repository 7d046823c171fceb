// A scoring function for the risk of a conversation. Repeated questions about secrets raise it.

/** @type {import("guard-scan").ScoringFunction} */
export function secrecy(text) {
  return /\b(?:password|passcode|secret)s?\b/i.test(text) ? 0.6 : 0;
}
