import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { anonymousForward, type Body, type ForwardSource } from "#contract/messages/body.ts";
import type { Person } from "#tests/support/people/people.ts";
import { readLog, request } from "./device.ts";

/** Forwarded messages. */

export const makeForward = (text: string, { id, username }: Pick<Person, "id" | "username">) =>
  ({ type: "text", text, forwarded: { by: id, name: username } }) satisfies Body;

/** Form of a forward whose author's account is deleted. */
export const makeAnonymousForward = (text: string) =>
  ({ type: "text", text, forwarded: anonymousForward }) satisfies Body;

/** Forwards a message. Returns its seq or the refusal. */
export const forwardMessage = async (
  by: Person,
  body: Body,
  source: ForwardSource,
  to: ConversationId,
  cid: Uuid = createUuid(),
) => {
  const { error, sent } = await request(by, { type: "send", conversation: to, messages: [{ cid, body, source }] });
  return error ?? sent[0]?.seq;
};

export const readBodies = async (by: Person, conversation: ConversationId) =>
  (await readLog(by, conversation)).map(({ body }) => body);
