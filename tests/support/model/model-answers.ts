import * as v from "valibot";
import type { CallResult } from "#contract/calls/call.ts";
import type { Uuid } from "#contract/ids.ts";
import { conversationResultsMax } from "#contract/limits/search.ts";
import type { Command, CommandResults } from "#contract/wire/commands.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { toWireMessage, toWirePerson, toWireRow } from "#contract/wire/compact-encoding.ts";
import { GlobalSearch, type GlobalSearchResult } from "#contract/wire/global-search.ts";
import type { ServerFrame } from "#contract/wire/server-frames.ts";
import type { ModelServer } from "./model-server.ts";

/** Answer frame of a command; times are relative to `now`. */
export const answerFrame = (
  type: Exclude<Command["type"], "send" | "multicast" | "mark">,
  ref: number,
  result: object,
  now: number,
): ServerFrame => {
  switch (type) {
    case "clearHistory":
    case "mute":
    case "setConversationFlags":
    case "deleteForEveryone":
    case "deletePending":
    case "editMessage":
    case "pinMessage":
    case "beat":
    case "signal":
      return ["y", ref];
    case "dial":
    case "answer":
    case "hangUp":
    case "standing":
      return ["j", ref, result as CallResult];
    case "react":
    case "setMessageFlags":
    case "setDraft":
      return ["y", ref, (result as CommandResults[typeof type]).revision];
    case "presence": {
      const { here, seen_at } = result as CommandResults["presence"];
      return ["L", ref, here ? 1 : 0, seen_at === null ? null : seen_at - now];
    }
    case "revised": {
      const { epoch, revision, messages, more } = result as CommandResults["revised"];
      return ["v", ref, epoch, revision, messages.map((message) => toWireMessage(message, now)), more];
    }
    case "page": {
      const { epoch, head, messages, more, anchor } = result as CommandResults["page"];
      const anchorAt = anchor === null ? null : anchor - now;
      return ["g", ref, epoch, head, messages.map((message) => toWireMessage(message, now)), more, anchorAt];
    }
    case "search": {
      const { messages, before } = result as CommandResults["search"];
      return ["q", ref, messages.map((message) => toWireMessage(message, now)), before];
    }
    case "changes": {
      const { epoch, counter, since, rows, people, calls, before, settings, notices, draftHead } =
        result as CommandResults["changes"];
      return [
        "c",
        ref,
        epoch,
        counter,
        now,
        rows.map((row) => toWireRow(row, now)),
        people.map(toWirePerson),
        calls,
        before,
        settings,
        notices,
        since,
        draftHead,
      ];
    }
  }
};

/** Searches several conversations, one after the other. A refusal because of too many requests refuses the whole. */
export const searchModelConversations = (
  server: ModelServer,
  user: Uuid,
  body: unknown,
): GlobalSearchResult | Refusal => {
  const parsed = v.safeParse(GlobalSearch, body);
  if (!parsed.success) return { error: "invalid_input" };
  const { query, filter: { from: sender, ...filter } = {}, targets } = parsed.output;
  const results: GlobalSearchResult["results"] = [];
  for (const { conversation, before = Number.MAX_SAFE_INTEGER } of targets) {
    const from = sender === undefined ? undefined : server.logs.get(conversation)?.members.get(sender)?.number;
    if (sender !== undefined && from === undefined) {
      results.push({ messages: [], before: null });
      continue;
    }
    const ofSender = from === undefined ? filter : { ...filter, from };
    const command = { type: "search", conversation, query, filter: ofSender, before } as const;
    const found = server.execute<"search">(user, command);
    if (!isRefusal(found)) {
      const messages = found.messages.slice(0, conversationResultsMax);
      const isCut = messages.length < found.messages.length;
      results.push({ messages, before: isCut ? (messages.at(-1)?.seq ?? null) : found.before });
    } else if (found.error === "rate_limited") return found;
    else results.push(found.error === "conversation_not_found" ? { messages: [], before: null } : null);
  }
  return { results };
};
