import * as v from "valibot";
import { type Call, CallResult, CallSignals } from "#contract/calls/call.ts";
import { IceServers } from "#contract/calls/ice.ts";
import type { ErrorCode } from "#contract/errors.ts";
import { createUuid, Uuid } from "#contract/ids.ts";
import { isRefusal, RelayResult } from "#contract/wire/commands.ts";
import { openDb } from "#worker/db/client.ts";
import { type AppContext, createRoutes } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller, takeToken } from "#worker/lib/limits/rate-limit.ts";
import {
  executeCommand,
  nonMemberErrors,
  respondWithCommand,
  respondWithRefusal,
} from "#worker/objects/http-commands.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";
import {
  AnswerBody,
  CallQuery,
  DialBody,
  DialResult,
  HangUpBody,
  HeartbeatBody,
  OpenCallList,
  RatingBody,
  SignalBody,
  SignalsQuery,
  toConversationId,
} from "./call-schemas.ts";
import { saveCallFeedback } from "./feedback.ts";
import { createIceServers } from "./ice.ts";

const CallIdParam = v.object({ id: Uuid });
const callChangeRefusals: readonly ErrorCode[] = [...nonMemberErrors, "not_allowed", "forbidden_origin"];

const listOpenCalls = ({ env, var: { caller } }: AppContext): Promise<Call[]> =>
  getUserChannelStub(env, caller.user).listCalls();
const findOpenCall = async (c: AppContext, id: Uuid): Promise<Call | undefined> =>
  (await listOpenCalls(c)).find(({ call_id }) => call_id === id);

/** Device of the caller's side of an open call, for clients that do not name one; a new id if there is none. */
const resolveDevice = async (c: AppContext, id: Uuid): Promise<Uuid> => {
  const call = await findOpenCall(c, id);
  return (call?.from === c.var.caller.user ? call.from_device : call?.to_device) ?? createUuid();
};

/** Call routes, for clients without a socket. Each change runs the command of the same name. */
export const callRoutes = createRoutes()
  .get(
    "/calls",
    describeOperation({ tag: "calls", summary: "Own open calls", ok: { status: 200, body: OpenCallList } }),
    authenticate,
    limitCaller("call_poll_by_user"),
    async (c) => c.json({ calls: await listOpenCalls(c), now: Date.now() }, 200),
  )
  .post(
    "/calls",
    describeOperation({
      tag: "calls",
      id: "create-call",
      summary: "Call the other person of a private conversation; idempotent by call id",
      ok: { status: 200, body: DialResult },
      refusals: [
        ...callChangeRefusals,
        "not_connected",
        "contact_blocked",
        "call_in_progress",
        "call_not_found",
        "rate_limited",
      ],
    }),
    authenticate,
    validate("json", DialBody),
    async (c) => {
      const { user } = c.var.caller;
      const body = c.req.valid("json");
      const { call_id: call = createUuid(), type: kind, device = createUuid() } = body;
      const result = await executeCommand<"dial">(c, {
        type: "dial",
        conversation: toConversationId(body, user),
        call,
        kind,
        device,
      });
      if (isRefusal(result)) return respondWithRefusal(c, result);
      const mayAsk = !result.over && (await takeToken(openDb(c.env), user, "ice_by_user")).ok;
      const ice = await createIceServers(c.env, result.call, user, mayAsk);
      return c.json({ ...result, call_id: result.call.call_id, ...ice }, 200);
    },
  )
  .get(
    "/calls/:id",
    describeOperation({
      tag: "calls",
      summary: "State of a call, or with its conversation how it ended if no other call followed",
      ok: { status: 200, body: CallResult },
      refusals: [...nonMemberErrors, "call_not_found", "rate_limited"],
    }),
    authenticate,
    validate("param", CallIdParam),
    validate("query", CallQuery),
    async (c) => {
      const { id: call } = c.req.valid("param");
      const { conversation, to_user_id } = c.req.valid("query");
      const namedConversation =
        to_user_id === undefined ? conversation : toConversationId({ to_user_id }, c.var.caller.user);
      const conversationId = namedConversation ?? (await findOpenCall(c, call))?.conversation;
      return conversationId === undefined
        ? refuse(c, "call_not_found")
        : respondWithCommand<"standing">(c, { type: "standing", call, conversation: conversationId });
    },
  )
  .get(
    "/calls/:id/ice",
    describeOperation({
      tag: "calls",
      summary: "STUN and TURN servers for an open call, with credentials for it",
      ok: { status: 200, body: IceServers },
      refusals: ["invalid_input", "call_not_found"],
    }),
    authenticate,
    validate("param", CallIdParam),
    limitCaller("ice_by_user"),
    async (c) => {
      const call = await findOpenCall(c, c.req.valid("param").id);
      return call ? c.json(await createIceServers(c.env, call, c.var.caller.user), 200) : refuse(c, "call_not_found");
    },
  )
  .get(
    "/calls/:id/signals",
    describeOperation({
      tag: "calls",
      summary: "Signals of the other side of an open call in the last ten seconds, for clients without a socket",
      ok: { status: 200, body: CallSignals },
      refusals: ["invalid_input", "call_not_found"],
    }),
    authenticate,
    validate("param", CallIdParam),
    validate("query", SignalsQuery),
    limitCaller("call_poll_by_user"),
    async (c) => {
      const { user } = c.var.caller;
      const signals = await getUserChannelStub(c.env, user).findRecentSignals(
        c.req.valid("param").id,
        c.req.valid("query").after,
      );
      return signals ? c.json(signals, 200) : refuse(c, "call_not_found");
    },
  )
  .post(
    "/calls/:id/answer",
    describeOperation({
      tag: "calls",
      id: "answer-call",
      summary: "Answer a ringing call",
      ok: { status: 200, body: CallResult },
      refusals: [...callChangeRefusals, "call_not_found", "call_in_progress", "answered_elsewhere", "rate_limited"],
    }),
    authenticate,
    validate("param", CallIdParam),
    validate("json", AnswerBody),
    async (c) => {
      const { id: call } = c.req.valid("param");
      const body = c.req.valid("json");
      const { device = await resolveDevice(c, call) } = body;
      return respondWithCommand<"answer">(c, {
        type: "answer",
        call,
        conversation: toConversationId(body, c.var.caller.user),
        device,
      });
    },
  )
  .post(
    "/calls/:id/end",
    describeOperation({
      tag: "calls",
      id: "end-call",
      summary: "Reject, cancel or end a call",
      ok: { status: 200, body: CallResult },
      refusals: [...callChangeRefusals, "call_not_found", "answered_elsewhere", "rate_limited"],
    }),
    authenticate,
    validate("param", CallIdParam),
    validate("json", HangUpBody),
    async (c) => {
      const { id: call } = c.req.valid("param");
      const body = c.req.valid("json");
      const { device = await resolveDevice(c, call), status, reason, ago } = body;
      const conversation = toConversationId(body, c.var.caller.user);
      const optional = { ...(reason ? { reason } : {}), ...(ago ? { ago } : {}) };
      return respondWithCommand<"hangUp">(c, { type: "hangUp", call, conversation, device, status, ...optional });
    },
  )
  .put(
    "/calls/:id/feedback",
    describeOperation({
      tag: "calls",
      summary: "Rate an ended call; a new rating replaces the previous one",
      ok: { status: 204, body: null },
      refusals: [...nonMemberErrors, "forbidden_origin", "call_not_found", "call_in_progress", "rate_limited"],
    }),
    authenticate,
    validate("param", CallIdParam),
    validate("json", RatingBody),
    limitCaller("feedback_by_user"),
    async (c) => {
      const { id: call } = c.req.valid("param");
      const { user } = c.var.caller;
      const { good, reason, ...reference } = c.req.valid("json");
      const state = await executeCommand<"standing">(c, {
        type: "standing",
        call,
        conversation: toConversationId(reference, user),
      });
      if (isRefusal(state)) return respondWithRefusal(c, state);
      if (!state.over) return refuse(c, "call_in_progress");
      await saveCallFeedback(c.env, state.call, state.over, user, { good, reason });
      return c.body(null, 204);
    },
  )
  .post(
    "/calls/:id/beat",
    describeOperation({
      tag: "calls",
      summary: "Heartbeat of one side of a call",
      ok: { status: 200, body: RelayResult },
      refusals: [...callChangeRefusals, "call_not_found", "rate_limited"],
    }),
    authenticate,
    validate("param", CallIdParam),
    validate("json", HeartbeatBody),
    (c) => {
      const body = c.req.valid("json");
      const [conversation, call] = [toConversationId(body, c.var.caller.user), c.req.valid("param").id];
      return respondWithCommand<"beat">(c, {
        type: "beat",
        call,
        conversation,
        device: body.device,
        unheard: body.unheard,
      });
    },
  )
  .post(
    "/calls/:id/signal",
    describeOperation({
      tag: "calls",
      id: "signal-call",
      summary: "Send a signal to the other side's devices, or to one of them",
      ok: { status: 200, body: RelayResult },
      refusals: [...callChangeRefusals, "call_not_found", "rate_limited"],
    }),
    authenticate,
    validate("param", CallIdParam),
    validate("json", SignalBody),
    async (c) => {
      const { id: call } = c.req.valid("param");
      const body = c.req.valid("json");
      const { to, signal, from = await resolveDevice(c, call) } = body;
      const conversation = toConversationId(body, c.var.caller.user);
      return respondWithCommand<"signal">(c, { type: "signal", call, conversation, from, to, signal });
    },
  );
