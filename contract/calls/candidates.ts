/**
 * Addresses that reveal nothing about a device: browsers and `stripDescription` (`src/calls/media/sdp.ts`) write them
 * in place of a real one.
 */
const placeholderAddresses: readonly string[] = ["0.0.0.0", "127.0.0.1", "::", "::1"];

/** ICE candidate lines (RFC 8839), also within a session description embedded in JSON. */
const candidateLine = /candidate:[^"\\\r\n]*/g;
const relatedAddress = / raddr (\S+)/;
/** Connection address of a session description or of one of its sections (RFC 8866). */
const connectionAddress = /\bIN IP[46] ([0-9A-Fa-f.:]+)/g;

/** Whether a candidate is a relay candidate without the address of the device behind it. */
export const isRelayOnly = (candidate: string): boolean =>
  / typ relay\b/.test(candidate) && placeholderAddresses.includes(relatedAddress.exec(candidate)?.[1] ?? "0.0.0.0");

/** Whether a signal contains a network address of the device that sent it. */
export const revealsAddress = (signal: string): boolean => {
  for (const [candidate] of signal.matchAll(candidateLine)) if (!isRelayOnly(candidate)) return true;
  for (const [, address = ""] of signal.matchAll(connectionAddress))
    if (!placeholderAddresses.includes(address)) return true;
  return false;
};
