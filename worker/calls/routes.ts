import * as v from "valibot";
import { CallKind, CallReason, CallResult, CallStatus, Device, Signal } from "../../contract/calls";
import { Passed } from "../../contract/commands";
import type { ErrorCode } from "../../contract/errors";
import { ConversationId, Uuid } from "../../contract/ids";

import { createRoutes } from "../lib/app";
import { authenticate } from "../lib/authenticate";
import { operation } from "../lib/operation";
import { validate } from "../lib/validate";
import { carry, strangers } from "../objects/carry";

const Named = v.object({ id: Uuid });
const inside = { conversation: ConversationId };
const Dial = v.strictObject({ ...inside, call_id: Uuid, type: CallKind, device: Device });
const Answer = v.strictObject({ ...inside, device: Device });
const End = v.strictObject({ ...inside, device: Device, status: CallStatus, reason: v.optional(CallReason) });
const Beat = v.strictObject(inside);
const Pass = v.strictObject({ ...inside, from: Device, to: v.nullable(Device), signal: Signal });

const refusals: readonly ErrorCode[] = [...strangers, "not_allowed", "forbidden_origin"];

/** Calls by HTTP, for when there is no socket. Each route is the command of its name. */
export const callRoutes = createRoutes()
  .post(
    "/calls",
    operation({
      tag: "calls",
      summary: "Call the other person of a private conversation",
      ok: { status: 200, body: CallResult },
      refusals: [...refusals, "not_connected", "contact_blocked", "call_in_progress"],
    }),
    authenticate,
    validate("json", Dial),
    (c) => {
      const { conversation, call_id: call, type: kind, device } = c.req.valid("json");
      return carry<"dial">(c, { type: "dial", conversation, call, kind, device });
    },
  )
  .get(
    "/calls/:id",
    operation({
      tag: "calls",
      summary: "How a call stands, or how it ended if none came after it",
      ok: { status: 200, body: CallResult },
      refusals: [...strangers, "call_not_found"],
    }),
    authenticate,
    validate("param", Named),
    validate("query", v.object(inside)),
    (c) => carry<"standing">(c, { type: "standing", call: c.req.valid("param").id, ...c.req.valid("query") }),
  )
  .post(
    "/calls/:id/answer",
    operation({
      tag: "calls",
      summary: "Answer a call that rings",
      ok: { status: 200, body: CallResult },
      refusals: [...refusals, "call_not_found", "answered_elsewhere"],
    }),
    authenticate,
    validate("param", Named),
    validate("json", Answer),
    (c) => carry<"answer">(c, { type: "answer", call: c.req.valid("param").id, ...c.req.valid("json") }),
  )
  .post(
    "/calls/:id/end",
    operation({
      tag: "calls",
      summary: "Refuse, give up or end a call",
      ok: { status: 200, body: CallResult },
      refusals: [...refusals, "call_not_found", "answered_elsewhere"],
    }),
    authenticate,
    validate("param", Named),
    validate("json", End),
    (c) => {
      const { reason, ...end } = c.req.valid("json");
      return carry<"hangUp">(c, {
        type: "hangUp",
        call: c.req.valid("param").id,
        ...end,
        ...(reason ? { reason } : {}),
      });
    },
  )
  .post(
    "/calls/:id/beat",
    operation({
      tag: "calls",
      summary: "Say that this side of a call is still there",
      ok: { status: 200, body: Passed },
      refusals: [...refusals, "call_not_found"],
    }),
    authenticate,
    validate("param", Named),
    validate("json", Beat),
    (c) => carry<"beat">(c, { type: "beat", call: c.req.valid("param").id, ...c.req.valid("json") }),
  )
  .post(
    "/calls/:id/signal",
    operation({
      tag: "calls",
      summary: "Tell the other side's devices, or one of them, something inside a call",
      ok: { status: 200, body: Passed },
      refusals: [...refusals, "call_not_found", "rate_limited"],
    }),
    authenticate,
    validate("param", Named),
    validate("json", Pass),
    (c) => carry<"signal">(c, { type: "signal", call: c.req.valid("param").id, ...c.req.valid("json") }),
  );
