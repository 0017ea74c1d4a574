import * as v from "valibot";
import { type Call, CallResult, CallSignals } from "#contract/calls/call.ts";
import { IceServers } from "#contract/calls/ice.ts";
import type { ErrorCode } from "#contract/errors.ts";
import { createUuid, Uuid } from "#contract/ids.ts";
import { isRefusal, Passed } from "#contract/wire/commands.ts";
import { openDb } from "#worker/db/client.ts";
import { type AppContext, createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { operation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller, takeToken } from "#worker/lib/limits/rate-limit.ts";
import { answerRefusal, carry, carryOut, strangers } from "#worker/objects/http-commands.ts";
import { userChannelOf } from "#worker/objects/stubs.ts";
import { After, Answer, Beat, Dial, Dialled, End, Judge, OpenCalls, Pass, placeOf, Whose } from "./bodies.ts";
import { putFeedback } from "./feedback.ts";
import { makeIceServers } from "./ice.ts";

const Named = v.object({ id: Uuid });
const changing: readonly ErrorCode[] = [...strangers, "not_allowed", "forbidden_origin"];

const listOpen = ({ env, var: { caller } }: AppContext): Promise<Call[]> =>
  userChannelOf(env, caller.user).calls(caller.user);
const findOpen = async (c: AppContext, id: Uuid): Promise<Call | undefined> =>
  (await listOpen(c)).find(({ call_id }) => call_id === id);

/** The device that has the caller's side of an open call, for a client that does not say which it is. */
const deviceIn = async (c: AppContext, id: Uuid): Promise<Uuid> => {
  const call = await findOpen(c, id);
  return (call?.from === c.var.caller.user ? call.from_device : call?.to_device) ?? createUuid();
};

/** Calls by HTTP, for when there is no socket. Each change is the command of its name. */
export const callRoutes = createRoutes()
  .get(
    "/calls",
    operation({ tag: "calls", summary: "One's calls under way", ok: { status: 200, body: OpenCalls } }),
    authenticate,
    limitCaller("call_poll_by_user"),
    async (c) => c.json({ calls: await listOpen(c), now: Date.now() }, 200),
  )
  .post(
    "/calls",
    operation({
      tag: "calls",
      summary: "Call the other person of a private conversation; under the same id it is the same call",
      ok: { status: 200, body: Dialled },
      refusals: [...changing, "not_connected", "contact_blocked", "call_in_progress", "call_not_found", "rate_limited"],
    }),
    authenticate,
    validate("json", Dial),
    async (c) => {
      const { user } = c.var.caller;
      const body = c.req.valid("json");
      const { call_id: call = createUuid(), type: kind, device = createUuid() } = body;
      const result = await carryOut<"dial">(c, { type: "dial", conversation: placeOf(body, user), call, kind, device });
      if (isRefusal(result)) return answerRefusal(c, result);
      const mayAsk = !result.over && (await takeToken(openDb(c.env), user, "ice_by_user")).ok;
      const ice = await makeIceServers(c.env, result.call, user, mayAsk);
      return c.json({ ...result, call_id: result.call.call_id, ...ice }, 200);
    },
  )
  .get(
    "/calls/:id",
    operation({
      tag: "calls",
      summary: "How a call stands, or by its conversation how it ended if none came after it",
      ok: { status: 200, body: CallResult },
      refusals: [...strangers, "call_not_found", "rate_limited"],
    }),
    authenticate,
    validate("param", Named),
    validate("query", Whose),
    async (c) => {
      const { id: call } = c.req.valid("param");
      const { conversation, to_user_id } = c.req.valid("query");
      const named = to_user_id === undefined ? conversation : placeOf({ to_user_id }, c.var.caller.user);
      const place = named ?? (await findOpen(c, call))?.conversation;
      return place === undefined
        ? refuse(c, "call_not_found")
        : carry<"standing">(c, { type: "standing", call, conversation: place });
    },
  )
  .get(
    "/calls/:id/ice",
    operation({
      tag: "calls",
      summary: "STUN and TURN servers for a call that is open, with credentials made for it",
      ok: { status: 200, body: IceServers },
      refusals: ["invalid_input", "call_not_found"],
    }),
    authenticate,
    validate("param", Named),
    limitCaller("ice_by_user"),
    async (c) => {
      const call = await findOpen(c, c.req.valid("param").id);
      return call ? c.json(await makeIceServers(c.env, call, c.var.caller.user), 200) : refuse(c, "call_not_found");
    },
  )
  .get(
    "/calls/:id/signals",
    operation({
      tag: "calls",
      summary: "What the other side told inside an open call in the last ten seconds, for who has no socket",
      ok: { status: 200, body: CallSignals },
      refusals: ["invalid_input", "call_not_found"],
    }),
    authenticate,
    validate("param", Named),
    validate("query", After),
    limitCaller("call_poll_by_user"),
    async (c) => {
      const { user } = c.var.caller;
      const said = await userChannelOf(c.env, user).findSaid(user, c.req.valid("param").id, c.req.valid("query").after);
      return said ? c.json(said, 200) : refuse(c, "call_not_found");
    },
  )
  .post(
    "/calls/:id/answer",
    operation({
      tag: "calls",
      summary: "Answer a call that rings",
      ok: { status: 200, body: CallResult },
      refusals: [...changing, "call_not_found", "call_in_progress", "answered_elsewhere", "rate_limited"],
    }),
    authenticate,
    validate("param", Named),
    validate("json", Answer),
    async (c) => {
      const { id: call } = c.req.valid("param");
      const body = c.req.valid("json");
      const { device = await deviceIn(c, call) } = body;
      return carry<"answer">(c, { type: "answer", call, conversation: placeOf(body, c.var.caller.user), device });
    },
  )
  .post(
    "/calls/:id/end",
    operation({
      tag: "calls",
      summary: "Refuse, give up or end a call",
      ok: { status: 200, body: CallResult },
      refusals: [...changing, "call_not_found", "answered_elsewhere", "rate_limited"],
    }),
    authenticate,
    validate("param", Named),
    validate("json", End),
    async (c) => {
      const { id: call } = c.req.valid("param");
      const body = c.req.valid("json");
      const { device = await deviceIn(c, call), status, reason, ago } = body;
      const conversation = placeOf(body, c.var.caller.user);
      const more = { ...(reason ? { reason } : {}), ...(ago ? { ago } : {}) };
      return carry<"hangUp">(c, { type: "hangUp", call, conversation, device, status, ...more });
    },
  )
  .put(
    "/calls/:id/feedback",
    operation({
      tag: "calls",
      summary: "Say how a call was that is over; said again it takes the place of what was said before",
      ok: { status: 204, body: null },
      refusals: [...strangers, "forbidden_origin", "call_not_found", "call_in_progress", "rate_limited"],
    }),
    authenticate,
    validate("param", Named),
    validate("json", Judge),
    limitCaller("feedback_by_user"),
    async (c) => {
      const { id: call } = c.req.valid("param");
      const { user } = c.var.caller;
      const { good, reason, ...place } = c.req.valid("json");
      const found = await carryOut<"standing">(c, { type: "standing", call, conversation: placeOf(place, user) });
      if (isRefusal(found)) return answerRefusal(c, found);
      if (!found.over) return refuse(c, "call_in_progress");
      await putFeedback(c.env, found.call, found.over, user, { good, reason });
      return c.body(null, 204);
    },
  )
  .post(
    "/calls/:id/beat",
    operation({
      tag: "calls",
      summary: "Say that this side of a call is still there",
      ok: { status: 200, body: Passed },
      refusals: [...changing, "call_not_found", "rate_limited"],
    }),
    authenticate,
    validate("param", Named),
    validate("json", Beat),
    (c) => {
      const body = c.req.valid("json");
      const [conversation, call] = [placeOf(body, c.var.caller.user), c.req.valid("param").id];
      return carry<"beat">(c, { type: "beat", call, conversation, device: body.device, unheard: body.unheard });
    },
  )
  .post(
    "/calls/:id/signal",
    operation({
      tag: "calls",
      summary: "Tell the other side's devices, or one of them, something inside a call",
      ok: { status: 200, body: Passed },
      refusals: [...changing, "call_not_found", "rate_limited"],
    }),
    authenticate,
    validate("param", Named),
    validate("json", Pass),
    async (c) => {
      const { id: call } = c.req.valid("param");
      const body = c.req.valid("json");
      const { to, signal, from = await deviceIn(c, call) } = body;
      const conversation = placeOf(body, c.var.caller.user);
      return carry<"signal">(c, { type: "signal", call, conversation, from, to, signal });
    },
  );
