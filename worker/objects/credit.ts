import { creditBytes, creditMessages } from "../../contract/limits";

/**
 * What one socket was sent since its welcome and has not confirmed. The runtime shows nothing of what waits
 * inside a socket, so this is the only bound on it. `points` are places (messages, bytes) at which bytes can
 * be given back.
 */
export type Credit = {
  sent: number;
  bytes: number;
  taken: number;
  takenBytes: number;
  points: readonly (readonly [messages: number, bytes: number])[];
  behindSince: number | null;
};

const pointMessages = 8;
const pointBytes = 16 * 1024;
const pointsMax = 64;

export const fullCredit = (): Credit => ({ sent: 0, bytes: 0, taken: 0, takenBytes: 0, points: [], behindSince: null });

export const isBehind = ({ sent, taken, bytes, takenBytes }: Credit): boolean =>
  sent - taken >= creditMessages || bytes - takenBytes >= creditBytes;

export const charge = (credit: Credit, messages: number, bytes: number): Credit => {
  const sent = credit.sent + messages;
  const total = credit.bytes + bytes;
  const [lastSent, lastBytes] = credit.points.at(-1) ?? [credit.taken, credit.takenBytes];
  const isFar = sent - lastSent >= pointMessages || total - lastBytes >= pointBytes;
  const points: Credit["points"] =
    isFar && credit.points.length < pointsMax ? [...credit.points, [sent, total]] : credit.points;
  return { ...credit, sent, bytes: total, points };
};

/** The device has taken in this many messages. Undefined when it claims more than it was sent. */
export const confirm = (credit: Credit, taken: number): Credit | undefined => {
  if (taken > credit.sent) return undefined;
  if (taken <= credit.taken) return credit;
  const passed = credit.points.findLast(([messages]) => messages <= taken);
  const confirmed: Credit = {
    ...credit,
    taken,
    takenBytes: taken === credit.sent ? credit.bytes : (passed?.[1] ?? credit.takenBytes),
    points: credit.points.filter(([messages]) => messages > taken),
  };
  return isBehind(confirmed) ? confirmed : { ...confirmed, behindSince: null };
};
