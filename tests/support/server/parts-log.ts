import { expect } from "@playwright/test";
import { type FileState, partCount } from "#contract/files.ts";

/** Transfer of one file, observed between a client and its server. */
export type PartsLog = {
  /** Parts the server reported as received. */
  finished: Set<number>;
  /** Parts that were sent although the server had reported them before. */
  sentAgain: number[];
  /** Parts that were sent a second time before the server reported that they are missing. */
  sentOnGuess: number[];
};

/** Records the observed parts and the server's reports about them. */
export const watchParts = () => {
  const log: PartsLog = { finished: new Set(), sentAgain: [], sentOnGuess: [] };
  const sentParts = new Set<number>();
  return {
    log,
    recordPartStart(part: number) {
      if (log.finished.has(part)) log.sentAgain.push(part);
      if (sentParts.has(part)) log.sentOnGuess.push(part);
      sentParts.add(part);
    },
    recordStoredPart(part: number) {
      log.finished.add(part);
    },
    recordReport({ received }: FileState) {
      for (const part of received) log.finished.add(part);
      for (const part of sentParts) if (!received.includes(part)) sentParts.delete(part);
    },
  };
};

/** Checks that every part reached the server, and that none was sent again after its report or without one. */
export const expectPartsOnce = ({ finished, sentAgain, sentOnGuess }: PartsLog, size: number): void => {
  expect({ sentAgain, sentOnGuess }).toEqual({ sentAgain: [], sentOnGuess: [] });
  expect([...finished].sort((a, b) => a - b)).toEqual(Array.from({ length: partCount(size) }, (_, part) => part));
};
