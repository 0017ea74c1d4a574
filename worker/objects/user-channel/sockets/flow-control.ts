import { creditBytes, creditMessages, pageCreditMessages } from "#contract/limits.ts";

/** Messages and their bytes. */
type Load = { readonly messages: number; readonly bytes: number };

/**
 * What one socket was sent since its welcome and has not confirmed. The runtime shows nothing of what waits
 * inside a socket, so this is the only bound on it. What the device asked for itself (`paged`) has an allowance
 * of its own, so that catching up does not keep new messages away.
 */
export type Credit = {
  sent: Load;
  taken: Load;
  /** How much of what is not confirmed came in answers, at most. */
  paged: Load;
  /** Places at which bytes can be given back. */
  points: readonly Load[];
  behindSince: number | null;
};

const pointMessages = 8;
const pointBytes = 16 * 1024;
const pointsMax = 64;
/** How far a credit in use may be ahead of what is written of it. */
const unwritten: Load = { messages: 64, bytes: 32 * 1024 };
const nothing: Load = { messages: 0, bytes: 0 };

const plus = (a: Load, b: Load): Load => ({ messages: a.messages + b.messages, bytes: a.bytes + b.bytes });
const minus = (a: Load, b: Load): Load => ({ messages: a.messages - b.messages, bytes: a.bytes - b.bytes });
const least = (a: Load, b: Load): Load => ({
  messages: Math.min(a.messages, b.messages),
  bytes: Math.min(a.bytes, b.bytes),
});

export const fullCredit = (): Credit => ({
  sent: nothing,
  taken: nothing,
  paged: nothing,
  points: [],
  behindSince: null,
});

/** Whether one is so much further than the other that `afterSleep` would not make up for it. */
export const isFarFrom = (credit: Credit, written: Credit): boolean => {
  const far = minus(credit.sent, written.sent);
  return (
    far.messages >= unwritten.messages || far.bytes >= unwritten.bytes || credit.behindSince !== written.behindSince
  );
};

/** A credit that was written and used on, nobody knows how far: as little as may be left of it. */
export const afterSleep = (written: Credit): Credit => ({
  ...written,
  sent: plus(written.sent, unwritten),
});

/** Whether the socket gets heads only until it confirms something. */
export const isBehind = ({ sent, taken, paged }: Credit): boolean => {
  const pushed = minus(minus(sent, taken), paged);
  return pushed.messages >= creditMessages || pushed.bytes >= creditBytes;
};

/** Whether the socket has to confirm something before it may ask for more messages. */
export const isFull = ({ paged }: Credit): boolean =>
  paged.messages >= pageCreditMessages || paged.bytes >= creditBytes;

export const charge = (credit: Credit, load: Load, isPage: boolean): Credit => {
  const sent = plus(credit.sent, load);
  const far = minus(sent, credit.points.at(-1) ?? credit.taken);
  const isFar = far.messages >= pointMessages || far.bytes >= pointBytes;
  return {
    ...credit,
    sent,
    paged: isPage ? plus(credit.paged, load) : credit.paged,
    points: isFar && credit.points.length < pointsMax ? [...credit.points, sent] : credit.points,
  };
};

/** The device has taken in this many messages. Undefined when it claims more than it was sent. */
export const confirm = (credit: Credit, messages: number): Credit | undefined => {
  if (messages > credit.sent.messages) return undefined;
  if (messages <= credit.taken.messages) return credit;
  const isAll = messages === credit.sent.messages;
  const passed = isAll ? credit.sent : credit.points.findLast((point) => point.messages <= messages);
  const taken = { messages, bytes: passed?.bytes ?? credit.taken.bytes };
  const confirmed: Credit = {
    ...credit,
    taken,
    paged: least(credit.paged, minus(credit.sent, taken)),
    points: credit.points.filter((point) => point.messages > messages),
  };
  return isBehind(confirmed) ? confirmed : { ...confirmed, behindSince: null };
};
