import * as v from "valibot";
import type { Uuid } from "#contract/ids.ts";
import { conversationResultsMax } from "#contract/limits/search.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { GlobalSearch, type GlobalSearchResult } from "#contract/wire/global-search.ts";
import type { ModelServer } from "./model-server.ts";

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
