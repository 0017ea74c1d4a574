import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { OperationRow } from "./operation-row.ts";
import { toTimedChange, type UnsentChange } from "./unsent-state.ts";
import type { UnsentStore } from "./unsent-store.ts";

/** Changes that the person made and the server has not confirmed, as the image in memory has them. */

type Image = Pick<UnsentStore, "list" | "find">;
type Kind = OperationRow["kind"];
export type Operation<Of extends Kind> = Extract<OperationRow, { kind: Of }>;
type Content<Of extends Kind> = Omit<Operation<Of>, "key" | "kind" | "at">;

/** Defines a kind of operation by the properties that name its target. */
const defineOperation = <Of extends Kind, Name extends keyof Content<Of>>(kind: Of, names: readonly Name[]) => {
  type Target = Pick<Content<Of>, Name>;
  type Row = Operation<Of>;
  const toKey = (target: Target): string => [kind, ...names.map((name) => target[name])].join(" ");
  /** Change of the row of a target at a device time. */
  const update = (target: Target, at: number, change: (before: Row | undefined) => Content<Of> | undefined) => {
    const key = toKey(target);
    return toTimedChange("operations", key, at, (row) => {
      const after = change(row as Row | undefined);
      return after && after !== (row as unknown) ? ({ ...after, key, kind } as unknown as OperationRow) : after && row;
    });
  };
  return {
    /** Operations of this kind in the order of their times. */
    list: (unsent: Image): Row[] =>
      [...unsent.list().operations.values()].filter((row): row is Row => row.kind === kind).sort((a, b) => a.at - b.at),
    find: (unsent: Image, target: Target): Row | undefined =>
      unsent.find("operations", toKey(target)) as Row | undefined,
    update,
    /** Stores an operation in place of an earlier one with the same target. `at`: device time. */
    put: (operation: Content<Of>, at: number): UnsentChange => update(operation, at, () => operation),
    /** Ends the operation with this target. */
    remove: (target: Target): UnsentChange => update(target, 0, () => undefined),
    /** Ends an operation that was sent, unless the person has chosen again since. */
    end: (sent: Row): UnsentChange =>
      update(sent as unknown as Target, 0, (row) => (row?.at === sent.at ? undefined : row)),
  };
};

export const unsentDeletions = defineOperation("deletion", ["cid"]);
export const edits = defineOperation("edit", ["conversation", "target"]);
export const reactions = defineOperation("reaction", ["conversation", "target"]);
export const conversationFlags = defineOperation("conversationFlags", ["conversation"]);
export const messageFlags = defineOperation("messageFlags", ["conversation", "seq"]);
export const changedSettings = defineOperation("settings", []);

/** Pending flags of conversations in the order in which they were pinned. */
export const listPendingFlags = (unsent: Image): Operation<"conversationFlags">[] =>
  conversationFlags.list(unsent).sort((a, b) => a.chosenAt - b.chosenAt);

/** Changes that delete an own message for everyone. A pending edit of it ends. */
export const toDeletion = (message: { cid: Uuid; conversation: ConversationId }, at: number): UnsentChange[] => [
  edits.remove({ conversation: message.conversation, target: message.cid }),
  unsentDeletions.put(message, at),
];
