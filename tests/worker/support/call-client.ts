import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { CallFrame, CallKind, CallResult, CallStatus, ReportedReason } from "#contract/calls/call.ts";
import type { CallRequest } from "#contract/calls/call-commands.ts";
import type { ErrorCode } from "#contract/errors.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import type { Person } from "#tests/support/people/people.ts";
import { advanceClock } from "./clock.ts";
import { Device, readLog, waitUntil } from "./device.ts";
import { befriend, makePair, seedPerson } from "./seeded-people.ts";

/** Call clients, for tests of the server's part of calls. */

type Payload = CallFrame["payload"];
/** Result of a call command: the call's state, `passed` for relayed signals, or the code of a refusal. */
export type Outcome = Partial<CallResult> & { passed?: boolean; error?: ErrorCode };

/** Browser of a person in a call: its device id and its socket. */
export class CallClient {
  readonly id = createUuid();
  readonly person: Person;
  readonly device: Device;
  readonly #conversation: ConversationId;

  private constructor(person: Person, conversation: ConversationId, link: Device) {
    this.person = person;
    this.#conversation = conversation;
    this.device = link;
  }

  static async open(person: Person, conversation: ConversationId): Promise<CallClient> {
    return new CallClient(person, conversation, await Device.open(person));
  }

  async request(asked: CallRequest, conversation = this.#conversation): Promise<Outcome> {
    const answer = await this.device.request((ref) => ["j", ref, conversation, asked]);
    if (answer[0] === "j") return answer[2];
    return answer[0] === "n" ? { error: answer[2] } : { passed: true };
  }

  dial(call: Uuid, kind: CallKind = "audio", conversation?: ConversationId): Promise<Outcome> {
    return this.request({ type: "dial", call, kind, device: this.id }, conversation);
  }

  answer(call: Uuid, conversation?: ConversationId): Promise<Outcome> {
    return this.request({ type: "answer", call, device: this.id }, conversation);
  }

  hangUp(call: Uuid, status: CallStatus, reason?: ReportedReason, conversation?: ConversationId): Promise<Outcome> {
    return this.request({ type: "hangUp", call, device: this.id, status, ...(reason ? { reason } : {}) }, conversation);
  }

  heartbeat(call: Uuid): Promise<Outcome> {
    return this.request({ type: "beat", call, device: this.id });
  }

  signal(call: Uuid, signal: string, to: Uuid | null = null): Promise<Outcome> {
    return this.request({ type: "signal", call, from: this.id, to, signal });
  }

  /** All received call events. */
  get received(): Payload[] {
    return this.device.frames.flatMap((frame) => ("event" in frame ? [frame.payload] : []));
  }

  /** Types of the events received about one call. */
  listEvents(call: Uuid): string[] {
    return this.received.filter(({ data }) => data.call_id === call).map(({ event_type }) => event_type);
  }

  /** Waits for an event of a call. */
  async waitForEvent(call: Uuid, event: Payload["event_type"]): Promise<Payload> {
    await waitUntil(() => this.listEvents(call).includes(event)).catch(() => {
      throw new Error(`${event} was not received, but only ${JSON.stringify(this.received)}`);
    });
    const found = this.received.find((payload) => payload.event_type === event && payload.data.call_id === call);
    if (!found) throw new Error("the received event is missing");
    return found;
  }
}

/** Makes Ana and Ben, connected, each with a connected client. */
export const makeCallers = async () => {
  const pair = await makePair();
  return { ...pair, anas: await CallClient.open(pair.ana, pair.id), bens: await CallClient.open(pair.ben, pair.id) };
};

/** Makes a contact of a person, with a client. */
export const makeContact = async (of: Person) => {
  const person = await seedPerson();
  const id = await befriend(person, of);
  return { person, id, phone: await CallClient.open(person, id) };
};

/** Makes a call from Ana that rings on Ben's client, which reports it as the app does. */
export const makeRingingCall = async (kind: CallKind = "audio") => {
  const callers = await makeCallers();
  const call = createUuid();
  advanceClock(0);
  await callers.anas.dial(call, kind);
  await callers.bens.waitForEvent(call, "ring");
  await callers.bens.heartbeat(call);
  return { ...callers, call };
};

/** Makes a call that Ben answered. */
export const makeAnsweredCall = async () => {
  const ring = await makeRingingCall();
  await ring.bens.answer(ring.call);
  await ring.anas.waitForEvent(ring.call, "answered");
  return ring;
};

/** Call entries of a log, as a member reads them. */
export const readCallEntries = async (member: Person, conversation: ConversationId) =>
  (await readLog(member, conversation)).filter(({ body }) => body.type === "call" || body.type === "withheld");

export const makeCallEntry = (id: Uuid, status: CallStatus, rest: Partial<StoredBody> = {}) => ({
  type: "call",
  id,
  kind: "audio",
  status,
  seconds: 0,
  ...rest,
});

/** Log entry of a call that nobody answered while it rang. */
export const makeUnansweredEntry = (id: Uuid) => makeCallEntry(id, "missed", { reason: "unanswered" });

export const conversationStub = (id: ConversationId) => env.CONVERSATION.getByName(id);
export const channelStub = (user: Uuid) => env.USER_CHANNEL.getByName(user);

/** Runs the alarm of a conversation now. Returns false if none was set. */
export const runAlarm = (id: ConversationId) => runDurableObjectAlarm(conversationStub(id));
export const findAlarmTime = (id: ConversationId): Promise<number | null> =>
  runInDurableObject(conversationStub(id), (_, { storage }) => storage.getAlarm());
export const evictConversation = (id: ConversationId) => evictDurableObject(conversationStub(id));
