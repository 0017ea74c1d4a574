import { creditBytes, creditMessages, pageCreditMessages } from "#contract/limits/sockets.ts";

/** Number of messages and their bytes. */
export type SentAmount = { readonly messages: number; readonly bytes: number };

/**
 * Flow control of one socket: data sent since its welcome, and the confirmed part. The runtime does not reveal what
 * waits inside a socket, so this is the only bound. Pages requested by the device (`paged`) have an allowance of their
 * own, so that catching up does not delay new messages.
 */
export type SocketCredit = {
  sent: SentAmount;
  taken: SentAmount;
  /** Upper bound of the unconfirmed part that was sent as pages. */
  paged: SentAmount;
  /** Checkpoints at which confirmed messages release bytes. */
  points: readonly SentAmount[];
  behindSince: number | null;
};

const checkpointMessages = 8;
const checkpointBytes = 16 * 1024;
const checkpointsMax = 64;
/** Maximum by which the credit in memory may be ahead of the persisted one. */
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

/** Whether the credit differs from the persisted one by more than `assumeCreditAfterSleep` adds. */
export const shouldPersistCredit = (credit: SocketCredit, persisted: SocketCredit): boolean => {
  const difference = subtractAmounts(credit.sent, persisted.sent);
  return (
    difference.messages >= unwritten.messages ||
    difference.bytes >= unwritten.bytes ||
    credit.behindSince !== persisted.behindSince
  );
};

/** Lower bound of a credit that was used further after it was persisted. */
export const assumeCreditAfterSleep = (persisted: SocketCredit): SocketCredit => ({
  ...persisted,
  sent: addAmounts(persisted.sent, unwritten),
});

/** Whether the socket receives only heads until it confirms something. */
export const isBehind = ({ sent, taken, paged }: SocketCredit): boolean => {
  const pushed = subtractAmounts(subtractAmounts(sent, taken), paged);
  return pushed.messages >= creditMessages || pushed.bytes >= creditBytes;
};

/** Whether the socket has to confirm something before it may request more messages. */
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

/** Confirms the first `messages` messages. Undefined if that is more than was sent. */
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
