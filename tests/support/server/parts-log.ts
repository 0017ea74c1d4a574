import { expect } from "@playwright/test";
import { type FileState, partCount } from "#contract/files.ts";

/** What somebody on the way between a phone and its server saw of one file. */
export type PartsLog = {
  /** Parts the server said it has. */
  finished: Set<number>;
  /** Parts that were begun although the server had said before that it has them. */
  sentAgain: number[];
  /** Parts that were begun a second time before the server said that they are missing. */
  sentOnGuess: number[];
};

/** Takes note of the parts that go by and of what the server says of them. */
export const watchParts = () => {
  const log: PartsLog = { finished: new Set(), sentAgain: [], sentOnGuess: [] };
  const mayBeThere = new Set<number>();
  return {
    log,
    begun(part: number) {
      if (log.finished.has(part)) log.sentAgain.push(part);
      if (mayBeThere.has(part)) log.sentOnGuess.push(part);
      mayBeThere.add(part);
    },
    taken(part: number) {
      log.finished.add(part);
    },
    told({ received }: FileState) {
      for (const part of received) log.finished.add(part);
      for (const part of mayBeThere) if (!received.includes(part)) mayBeThere.delete(part);
    },
  };
};

/** Every part reached the server, none was sent again once it had said so, and none on a guess. */
export const expectPartsOnce = ({ finished, sentAgain, sentOnGuess }: PartsLog, size: number): void => {
  expect({ sentAgain, sentOnGuess }).toEqual({ sentAgain: [], sentOnGuess: [] });
  expect([...finished].sort((a, b) => a - b)).toEqual(Array.from({ length: partCount(size) }, (_, part) => part));
};
