import { creditBytes, creditMessages, pageCreditMessages } from "#contract/limits.ts";

/** Messages and their bytes. */
type SentAmount = { readonly messages: number; readonly bytes: number };

/**
 * What one socket was sent since its welcome and has not confirmed. The runtime shows nothing of what waits
 * inside a socket, so this is the only bound on it. What the device asked for itself (`paged`) has an allowance
 * of its own, so that catching up does not keep new messages away.
 */
export type SocketCredit = {
  sent: SentAmount;
  taken: SentAmount;
  /** How much of what is not confirmed came in answers, at most. */
  paged: SentAmount;
  /** Places at which bytes can be given back. */
  points: readonly SentAmount[];
  behindSince: number | null;
};

const checkpointMessages = 8;
const checkpointBytes = 16 * 1024;
const checkpointsMax = 64;
/** How far a credit in use may be ahead of what is written of it. */
const unwritten: SentAmount = { messages: 64, bytes: 32 * 1024 };
const nothing: SentAmount = { messages: 0, bytes: 0 };

const addAmounts = (a: SentAmount, b: SentAmount): SentAmount => ({
  messages: a.messages + b.messages,
  bytes: a.bytes + b.bytes,
});
const subtractAmounts = (a: SentAmount, b: SentAmount): SentAmount => ({
  messages: a.messages - b.messages,
  bytes: a.bytes - b.bytes,
});
const minAmounts = (a: SentAmount, b: SentAmount): SentAmount => ({
  messages: Math.min(a.messages, b.messages),
  bytes: Math.min(a.bytes, b.bytes),
});

export const createCredit = (): SocketCredit => ({
  sent: nothing,
  taken: nothing,
  paged: nothing,
  points: [],
  behindSince: null,
});

/** Whether one is so much further than the other that `afterSleep` would not make up for it. */
export const shouldPersistCredit = (credit: SocketCredit, persisted: SocketCredit): boolean => {
  const difference = subtractAmounts(credit.sent, persisted.sent);
  return (
    difference.messages >= unwritten.messages ||
    difference.bytes >= unwritten.bytes ||
    credit.behindSince !== persisted.behindSince
  );
};

/** A credit that was written and used on, nobody knows how far: as little as may be left of it. */
export const assumeCreditAfterSleep = (persisted: SocketCredit): SocketCredit => ({
  ...persisted,
  sent: addAmounts(persisted.sent, unwritten),
});

/** Whether the socket gets heads only until it confirms something. */
export const isBehind = ({ sent, taken, paged }: SocketCredit): boolean => {
  const pushed = subtractAmounts(subtractAmounts(sent, taken), paged);
  return pushed.messages >= creditMessages || pushed.bytes >= creditBytes;
};

/** Whether the socket has to confirm something before it may ask for more messages. */
export const isPageCreditUsedUp = ({ paged }: SocketCredit): boolean =>
  paged.messages >= pageCreditMessages || paged.bytes >= creditBytes;

export const chargeCredit = (credit: SocketCredit, load: SentAmount, isPage: boolean): SocketCredit => {
  const sent = addAmounts(credit.sent, load);
  const difference = subtractAmounts(sent, credit.points.at(-1) ?? credit.taken);
  const isCheckpoint = difference.messages >= checkpointMessages || difference.bytes >= checkpointBytes;
  return {
    ...credit,
    sent,
    paged: isPage ? addAmounts(credit.paged, load) : credit.paged,
    points: isCheckpoint && credit.points.length < checkpointsMax ? [...credit.points, sent] : credit.points,
  };
};

/** The device has taken in this many messages. Undefined when it claims more than it was sent. */
export const confirmCredit = (credit: SocketCredit, messages: number): SocketCredit | undefined => {
  if (messages > credit.sent.messages) return undefined;
  if (messages <= credit.taken.messages) return credit;
  const isEverything = messages === credit.sent.messages;
  const checkpoint = isEverything ? credit.sent : credit.points.findLast((point) => point.messages <= messages);
  const taken = { messages, bytes: checkpoint?.bytes ?? credit.taken.bytes };
  const confirmed: SocketCredit = {
    ...credit,
    taken,
    paged: minAmounts(credit.paged, subtractAmounts(credit.sent, taken)),
    points: credit.points.filter((point) => point.messages > messages),
  };
  return isBehind(confirmed) ? confirmed : { ...confirmed, behindSince: null };
};
