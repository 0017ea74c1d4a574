import * as v from "valibot";
import { Seq } from "#contract/messages/positions.ts";

/** Pinned messages of an inbox row, and the version of the list. */
type PinnedFields = { pinnedMessages: number[]; pinnedVersion: number };

/** Value of the column `pinned_messages`: version of the list and positions. */
const PinnedColumn = v.tuple([v.number(), v.array(Seq)]);

export const toPinnedColumn = ({ pinnedVersion, pinnedMessages }: PinnedFields): string | null =>
  pinnedVersion === 0 ? null : JSON.stringify([pinnedVersion, pinnedMessages]);

export const fromPinnedColumn = (column: string | null): PinnedFields => {
  const [pinnedVersion, pinnedMessages] = column === null ? [0, []] : v.parse(PinnedColumn, JSON.parse(column));
  return { pinnedVersion, pinnedMessages };
};

type PinnedNotice = { membershipVersion: number; pinned?: { version: number; seqs: readonly number[] } };

/**
 * Pinned messages after a notice. That of a new membership, or of its end, replaces the list; of the same one the newer
 * list wins.
 */
export const mergePinned = (
  before: PinnedFields & { membershipVersion: number },
  { membershipVersion, pinned = { version: 0, seqs: [] } }: PinnedNotice,
): PinnedFields => {
  const isNewer =
    membershipVersion > before.membershipVersion ||
    (membershipVersion === before.membershipVersion && pinned.version > before.pinnedVersion);
  return isNewer
    ? { pinnedVersion: pinned.version, pinnedMessages: [...pinned.seqs] }
    : { pinnedVersion: before.pinnedVersion, pinnedMessages: before.pinnedMessages };
};

export const isSamePinned = (a: readonly number[], b: readonly number[]): boolean => a.join() === b.join();
