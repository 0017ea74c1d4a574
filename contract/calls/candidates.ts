/** Addresses that tell nothing of a device: what browsers and `slim` (`src/calls/media/sdp.ts`) write in place of a real one. */
const placeholderAddresses: readonly string[] = ["0.0.0.0", "127.0.0.1", "::", "::1"];

/** Candidate lines (RFC 8839), also those within a session description that is itself text in JSON. */
const candidateLine = /candidate:[^"\\\r\n]*/g;
const relatedAddress = / raddr (\S+)/;
/** The connection address of a description or of one of its sections (RFC 8866). */
const connectionAddress = /\bIN IP[46] ([0-9A-Fa-f.:]+)/g;

/** Whether a candidate names a relay, and nothing of the device behind it. */
export const isRelayOnly = (candidate: string): boolean =>
  / typ relay\b/.test(candidate) && placeholderAddresses.includes(relatedAddress.exec(candidate)?.[1] ?? "0.0.0.0");

/** Whether the text of a signal names a network address of the device that sent it. */
export const revealsAddress = (signal: string): boolean => {
  for (const [candidate] of signal.matchAll(candidateLine)) if (!isRelayOnly(candidate)) return true;
  for (const [, address = ""] of signal.matchAll(connectionAddress))
    if (!placeholderAddresses.includes(address)) return true;
  return false;
};
