import type { Command } from "./commands.ts";

/**
 * HTTP request of a command (`toHttpRequest`). The response is the command's result as JSON (`CommandResults`); a
 * refusal is an `ApiError` with its status and, if rate limited, `Retry-After` in seconds.
 */
export type HttpRequest = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  body?: unknown;
};

const withQuery = (path: string, values: Record<string, string | number | undefined>): string => {
  const query = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join("&");
  return query === "" ? path : `${path}?${query}`;
};

export const toHttpRequest = (command: Command): HttpRequest => {
  if (command.type === "changes") {
    return { method: "GET", path: withQuery("/api/sync", { since: command.since, before: command.before }) };
  }
  if (command.type === "multicast") {
    const { body, source, to } = command;
    return { method: "POST", path: "/api/messages", body: source ? { body, source, to } : { body, to } };
  }
  const path = `/api/conversations/${command.conversation}`;
  const inConversation = { conversation: command.conversation };
  switch (command.type) {
    case "send":
      return { method: "POST", path: `${path}/messages`, body: { messages: command.messages } };
    case "page":
      return {
        method: "GET",
        path: withQuery(`${path}/messages`, { [command.direction]: command.seq, limit: command.limit }),
      };
    case "search":
      return {
        method: "POST", // search texts must not appear in URLs
        path: `${path}/search`,
        body: { query: command.query, before: command.before, filter: command.filter },
      };
    case "mark":
      return {
        method: "PUT",
        path: `${path}/marks`,
        body: { delivered: command.delivered, read: command.read },
      };
    case "setConversationFlags": {
      const { type: _type, conversation: _conversation, ...flags } = command;
      return { method: "PATCH", path: `${path}/flags`, body: flags };
    }
    case "setMessageFlags": {
      const { type: _type, conversation: _conversation, seq, ...flags } = command;
      return { method: "PATCH", path: `${path}/messages/${seq}/flags`, body: flags };
    }
    case "setDraft": {
      const { type: _type, conversation: _conversation, ...draft } = command;
      return { method: "PUT", path: `${path}/draft`, body: draft };
    }
    case "clearHistory":
      return command.keep
        ? { method: "POST", path: `${path}/clear`, body: { upTo: command.upTo } }
        : { method: "DELETE", path: withQuery(path, { upTo: command.upTo }) };
    case "deleteForEveryone":
      return { method: "DELETE", path: `${path}/messages/${command.seq}` };
    case "deletePending":
      return { method: "PUT", path: `${path}/withdrawals/${command.cid}` };
    case "editMessage":
      return {
        method: "PATCH",
        path: `${path}/messages/${command.target}`,
        body: { edit: command.edit, text: command.text },
      };
    case "react":
      return { method: "PUT", path: `${path}/messages/${command.seq}/reaction`, body: { emoji: command.emoji } };
    case "pinMessage":
      return { method: "PUT", path: `${path}/messages/${command.seq}/pin`, body: { pinned: command.pinned } };
    case "revised":
      return { method: "GET", path: withQuery(`${path}/revisions`, { since: command.since }) };
    case "dial": {
      const { call, kind, device } = command;
      return { method: "POST", path: "/api/calls", body: { ...inConversation, call_id: call, type: kind, device } };
    }
    case "answer":
      return {
        method: "POST",
        path: `/api/calls/${command.call}/answer`,
        body: { ...inConversation, device: command.device },
      };
    case "hangUp": {
      const { call, device, status, reason, ago } = command;
      return {
        method: "POST",
        path: `/api/calls/${call}/end`,
        body: { ...inConversation, device, status, reason, ago },
      };
    }
    case "standing":
      return { method: "GET", path: withQuery(`/api/calls/${command.call}`, inConversation) };
    case "beat": {
      const { call, device, unheard } = command;
      return { method: "POST", path: `/api/calls/${call}/beat`, body: { ...inConversation, device, unheard } };
    }
    case "signal": {
      const { call, from, to, signal } = command;
      return { method: "POST", path: `/api/calls/${call}/signal`, body: { ...inConversation, from, to, signal } };
    }
    case "presence":
      return { method: "GET", path: `${path}/presence` };
    case "mute":
      return command.muted
        ? {
            method: "PUT",
            path: withQuery(`/api/mutes/${command.conversation}`, {
              seconds: command.seconds,
              except: command.exceptMentions && "mentions",
            }),
          }
        : { method: "DELETE", path: `/api/mutes/${command.conversation}` };
  }
};
