import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { pushConversationPauseMs } from "#contract/limits/push.ts";
import type { Body } from "#contract/messages/body.ts";
import type { Person } from "#tests/support/people/people.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup } from "#tests/worker/support/make-group.ts";
import { call } from "#tests/worker/support/site.ts";
import {
  bodies,
  channelOf,
  kill,
  runAlarm,
  settle,
  startPushServices,
  subscribe,
  waitForUnread,
} from "./push-fixture.ts";

startPushServices();

const mention = (from: Person, conversation: string, text: string) => {
  const body: Body = { type: "text", text, mentions: [[0, 4, 1]] };
  return request(from, { type: "send", conversation, messages: [{ cid: createUuid(), body }] });
};

const makeTrio = async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few");
  const { id: user, username, phone: number } = owner;
  const profile = { id: user, username, phone: number, avatar_url: null, created_at: 0 };
  const relation = { profile, request_id: null, connection_id: null, since: 0, blocked: false };
  await channelOf(ben).updateRelations([{ ...relation, state: "contact" }]);
  return { id, ana: owner, ben, cleo, phone: await subscribe(ben, "en") };
};

test("the push of a mention says so, and who wrote it if the reader knows them", async () => {
  const { id, ana, cleo, phone } = await makeTrio();
  await mention(ana, id, "@Ben come");
  expect((await phone.next()).payload.notification.body).toBe(`${ana.username} mentioned you: @Ben come`);
  advanceClock(pushConversationPauseMs);
  await mention(cleo, id, "@Ben come");
  expect((await phone.next(2)).payload.notification.body).toBe("2 new messages\nNew mention: @Ben come");
});

test("a conversation muted except mentions notifies of mentions alone, and counts these", async () => {
  const { id, ana, ben, cleo, phone } = await makeTrio();
  advanceClock(0);
  await request(ben, { type: "mute", conversation: id, muted: true, exceptMentions: true });
  expect(await readRow(ben, id)).toMatchObject({ muted: true, mutedExceptMentions: true });
  await sendTexts(ana, id, "un", "deux");
  await waitForUnread(ben, id, 2);
  await settle();
  expect(phone.requests).toBe(0);
  await mention(ana, id, "@Ben trois");
  expect((await phone.next()).payload).toMatchObject({ data: { count: 1, head: 4 } });
  expect(bodies(phone)[0]).toMatch(/ mentioned you: @Ben trois$/);
  // A later message notifies of nothing, also after a restart.
  advanceClock(pushConversationPauseMs);
  await sendTexts(cleo, id, "quatre");
  await waitForUnread(ben, id, 4);
  await kill(ben);
  await runAlarm(ben);
  await settle();
  expect(phone.received).toHaveLength(1);
  advanceClock(pushConversationPauseMs);
  await mention(ana, id, "@Ben cinq");
  expect((await phone.next(2)).payload.data).toMatchObject({ count: 2, head: 6 });
  expect(bodies(phone)[1]).toMatch(/^2 new mentions\n.+ mentioned you: @Ben cinq$/);
});

test("a mention that is not the newest message any more is pushed without a text", async () => {
  const { id, ana, ben, cleo, phone } = await makeTrio();
  await request(ben, { type: "mute", conversation: id, muted: true, exceptMentions: true });
  advanceClock(0);
  phone.answer = () => new Response(null, { status: 503 });
  await mention(ana, id, "@Ben un");
  await waitUntil(() => phone.requests > 0);
  await sendTexts(cleo, id, "deux");
  await waitForUnread(ben, id, 2);
  phone.answer = () => new Response(null, { status: 201 });
  advanceClock(60_000);
  await runAlarm(ben);
  expect((await phone.next()).payload.notification.body).toBe("New mention");
});

test("a muted conversation pushes no mention, and those of then stay silent when mentions are excepted", async () => {
  const { id, ana, ben, phone } = await makeTrio();
  advanceClock(0);
  await request(ben, { type: "mute", conversation: id, muted: true });
  await mention(ana, id, "@Ben un");
  await waitForUnread(ben, id, 1);
  await settle();
  await request(ben, { type: "mute", conversation: id, muted: true, exceptMentions: true });
  await kill(ben);
  await runAlarm(ben);
  await settle();
  expect(phone.requests).toBe(0);
  await mention(ana, id, "@Ben deux");
  await phone.next();
  expect(bodies(phone)[0]).toMatch(/@Ben deux$/);
});

test("without names in notifications, a mention is a new message", async () => {
  const { id, ana, ben, phone } = await makeTrio();
  await call("PATCH", "/api/settings", { token: ben.token, body: { groups: { sound: true, preview: "nothing" } } });
  await request(ben, { type: "mute", conversation: id, muted: true, exceptMentions: true });
  await mention(ana, id, "@Ben un");
  expect((await phone.next()).payload.notification).toMatchObject({ title: "Lisolo", body: "New message" });
});
