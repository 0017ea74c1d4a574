import * as v from "valibot";
import { StoredBody } from "#contract/messages/body.ts";
import { type MessageKind, messageKinds, toMessageKind } from "#contract/messages/kinds.ts";

/** Kinds that meet a condition, as the list of an SQL `IN`. */
export const toKindList = (isIncluded: (kind: MessageKind) => boolean): string =>
  (Object.keys(messageKinds) as MessageKind[])
    .filter(isIncluded)
    .map((kind) => `'${kind}'`)
    .join(", ");

/** Columns of a body: plain text as it is, so that a search need not parse it, everything else as JSON. */
export const toBodyColumns = (body: StoredBody): { kind: MessageKind; body: string } => {
  const kind = toMessageKind(body);
  return { kind, body: kind === "text" && body.type === "text" ? body.text : JSON.stringify(body) };
};

export const fromBodyColumns = (kind: MessageKind, body: string): StoredBody =>
  kind === "text" ? { type: "text", text: body } : v.parse(StoredBody, JSON.parse(body));
