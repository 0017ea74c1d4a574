import * as v from "valibot";
import { MemberPage } from "#contract/groups.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { Profile } from "#contract/people.ts";
import { ChangesResult, PageResult } from "#contract/wire/commands.ts";

/**
 * Data that the Worker embeds in the app's document, which the device would request next: the inbox, and the newest
 * messages and members of the chat that is opened. The device stores it before the first render.
 */
export const DocumentData = v.object({
  user: Uuid,
  profile: v.nullable(Profile),
  changes: ChangesResult,
  page: v.optional(v.object({ conversation: ConversationId, result: PageResult })),
  members: v.optional(v.object({ group: Uuid, page: MemberPage })),
});
export type DocumentData = v.InferOutput<typeof DocumentData>;
