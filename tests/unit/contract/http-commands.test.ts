import { expect, it } from "vitest";
import { createUuid } from "#contract/ids.ts";
import type { Command } from "#contract/wire/commands.ts";
import { toHttpRequest } from "#contract/wire/http-commands.ts";

const [call, device, other] = [createUuid(), createUuid(), createUuid()];
const conversation = "a.b";
/** Call requests with every optional field. */
const requests: Command[] = [
  { type: "dial", conversation, call, kind: "video", device },
  { type: "answer", conversation, call, device },
  { type: "hangUp", conversation, call, device, status: "rejected", reason: "busy", ago: 12_345 },
  { type: "standing", conversation, call },
  { type: "beat", conversation, call, device, unheard: 23_456 },
  { type: "signal", conversation, call, from: device, to: other, signal: "{}" },
];

it.each(requests)("the call request $type is sent over HTTP with all its fields", (request) => {
  const { path, body } = toHttpRequest(request);
  const sent = `${decodeURIComponent(path)} ${JSON.stringify(body)}`;
  const { type: _, ...fields } = request;
  for (const value of Object.values(fields)) expect(sent).toContain(JSON.stringify(value).replaceAll('"', ""));
});
