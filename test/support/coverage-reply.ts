/** Returns the coverage of a text in a reply of the HTTP API, if everything was scanned. */
export function coverageReply(chars: number) {
  return {
    ...{ chars, scanned_chars: chars, truncated: false, windows: 1, parts_skipped: 0 },
    ...{ suppressed: [], failed: [], untrained_language: {}, findings_omitted: {}, unscanned_sources: {} },
    ...{ state_elsewhere: [], unknown_fields: [] },
  };
}
