import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { GroupInvitations } from "#contract/groups.ts";
import { pushForegroundWaitMs } from "#contract/limits/push.ts";
import { findQuietEnd } from "#contract/settings/quiet-hours.ts";
import { defaultQuietHours } from "#contract/settings/settings.ts";
import type { Person } from "#tests/support/people/people.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { Device, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { createRowCounter } from "#tests/worker/support/row-counter.ts";
import { seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { bodies, channelOf, kill, runAlarm, settle, startPushServices, subscribe } from "./push-fixture.ts";

/** Pushes of invitations to groups, which obey the rules of contact requests. */

startPushServices();

const minuteMs = 60_000;

const invite = async (id: string, owner: Person, person: Person): Promise<void> => {
  const body = { members: [person.id] };
  expect(await requestAs(owner, "POST", `/api/groups/${id}/members`, body)).toMatchObject({ invited: [person.id] });
};
const withdraw = (id: string, owner: Person, person: Person) =>
  requestAs(owner, "DELETE", `/api/groups/${id}/invitations/${person.id}`);
const list = async (by: Person) =>
  ((await call("GET", "/api/group-invitations", { token: by.token })).body as GroupInvitations).invitations;
const makeGroups = () => Promise.all([makeSyncedGroup(2), makeSyncedGroup(2)]);

test("an invitation to a group notifies once, by the name of who invites, and another one beside it", async () => {
  const [{ id, owner }, second] = await makeGroups();
  const dan = await seedPerson();
  const phone = await subscribe(dan);
  await invite(id, owner, dan);
  const { payload } = await phone.next();
  const [invitation] = await list(dan);
  expect(payload.notification).toMatchObject({
    title: owner.username,
    body: "Vous invite dans un groupe",
    navigate: "https://lisolo.test/app/senga",
    tag: `invitation:${invitation?.id}`,
  });
  expect(payload.data).toMatchObject({ kind: "request", user: dan.id, isAlerting: true });
  expect(JSON.stringify(payload)).not.toContain(invitation?.group.name);
  await kill(dan);
  await invite(second.id, second.owner, dan);
  expect((await phone.next(2)).payload.notification.title).toBe(second.owner.username);
  // What is known notifies no more, whatever else changes.
  await call("PATCH", "/api/profile", { token: dan.token, body: { username: "Dan" } });
  await withdraw(second.id, second.owner, dan);
  await phone.next(3);
  await runAlarm(dan);
  await settle();
  expect(bodies(phone).filter((body) => body === "Vous invite dans un groupe")).toHaveLength(2);
});

test("an answered or withdrawn invitation leaves the notification of a closed device, and no other", async () => {
  const [{ id, owner }, second] = await makeGroups();
  const dan = await seedPerson();
  const phone = await subscribe(dan);
  await invite(id, owner, dan);
  await phone.next();
  const [invitation] = await list(dan);
  await invite(second.id, second.owner, dan);
  await phone.next(2);
  await settle();
  await kill(dan);
  await requestAs(dan, "POST", `/api/group-invitations/${invitation?.id}/accept`);
  const ended = await phone.next(3);
  expect(ended.payload.notification).toMatchObject({
    title: owner.username,
    body: "Cette invitation n’attend plus de réponse",
    tag: `invitation:${invitation?.id}`,
  });
  expect(ended.payload.data).toMatchObject({ kind: "request", isAlerting: false, isHandled: true });
  expect(ended.headers.get("urgency")).toBe("low");
  await withdraw(second.id, second.owner, dan);
  expect((await phone.next(4)).payload).toMatchObject({
    notification: { title: second.owner.username },
    data: { isHandled: true },
  });
  await invite(second.id, second.owner, dan);
  expect((await phone.next(5)).payload.notification.body).toBe("Vous invite dans un groupe");
  const page = await Device.open(dan);
  page.send(["l", 1]);
  await page.waitForPong();
  await withdraw(second.id, second.owner, dan); // the page closes the notification
  await settle();
  expect(phone.requests).toBe(5);
});

test("an invitation that a device showed in the foreground does not notify later, beside another one", async () => {
  const [{ id, owner }, second] = await makeGroups();
  const dan = await seedPerson();
  const page = await Device.open(dan);
  const phone = await subscribe(dan);
  page.send(["l", 1]);
  await page.waitForPong();
  advanceClock(0);
  await invite(id, owner, dan);
  await settle();
  advanceClock(pushForegroundWaitMs);
  page.send(["l", 1]);
  await page.waitForPong();
  await runAlarm(dan);
  page.close();
  await settle();
  expect(phone.requests).toBe(0);
  await invite(second.id, second.owner, dan);
  expect((await phone.next()).payload.notification.title).toBe(second.owner.username);
  await settle();
  expect(phone.requests).toBe(1);
});

test("invitations wait for the end of quiet hours, and show no name with nothing to show", async () => {
  const [{ id, owner }, second] = await makeGroups();
  const dan = await seedPerson();
  const phone = await subscribe(dan, "en");
  advanceClock(0);
  const from = Math.floor(Date.now() / minuteMs) % 1_440;
  const quietHours = { ...defaultQuietHours, isOn: true, from, to: (from + 8) % 1_440 };
  const messages = { sound: true, preview: "nothing" };
  await call("PATCH", "/api/settings", { token: dan.token, body: { quietHours, messages } });
  await invite(id, owner, dan);
  await invite(second.id, second.owner, dan);
  await waitUntil(async () => (await list(dan)).length === 2);
  await settle();
  await withdraw(second.id, second.owner, dan);
  await settle();
  expect(phone.requests).toBe(0);
  advanceClock((findQuietEnd({ quietHours }, Date.now()) ?? Number.NaN) - Date.now());
  await runAlarm(dan);
  const { payload } = await phone.next();
  expect(payload.notification).toMatchObject({ title: "Lisolo", body: "Invitation to a group" });
  expect(JSON.stringify(payload)).not.toContain(owner.username);
  await settle();
  expect(phone.requests).toBe(1);
});

test("an invitation that its recipient does not see notifies nobody: of a blocked person, and soon after a declined one", async () => {
  const [{ id, owner }, second] = await makeGroups();
  const dan = await seedPerson();
  const phone = await subscribe(dan);
  await call("PUT", `/api/blocks/${second.owner.id}`, { token: dan.token });
  await invite(second.id, second.owner, dan);
  await invite(id, owner, dan);
  const [invitation] = await list(dan);
  await requestAs(dan, "POST", `/api/group-invitations/${invitation?.id}/decline`);
  await phone.next(2);
  await withdraw(id, owner, dan);
  await invite(id, owner, dan);
  await settle();
  expect(bodies(phone)).toEqual(["Vous invite dans un groupe", "Cette invitation n’attend plus de réponse"]);
});

test("the push of an invitation writes as many rows as that of a contact request", async () => {
  const [{ id, owner }, second] = await makeGroups();
  const [dan, eve, sender, other] = [await seedPerson(), await seedPerson(), await seedPerson(), await seedPerson()];
  const ask = (from: Person, to: Person) => requestAs(from, "POST", "/api/requests", { to_user_id: to.id });
  const written = async (work: () => Promise<unknown>) =>
    (await count(async () => [await work(), await settle()])).written;
  for (const one of [dan, eve, sender, other]) await channelOf(one).hasConversation(id); // creates their tables
  const count = await createRowCounter([
    ...[owner, second.owner, dan, eve, sender, other].map(channelOf),
    ...[id, second.id].map((group) => env.CONVERSATION.getByName(group)),
  ]);
  const unpushed = [await written(() => ask(sender, dan)), await written(() => invite(id, owner, dan))];
  const phone = await subscribe(eve);
  const pushed = [
    await written(async () => [await ask(other, eve), await phone.next(1)]),
    await written(async () => [await invite(second.id, second.owner, eve), await phone.next(2)]),
  ];
  const [request = 0, invitation = 0] = pushed.map((rows, n) => rows - (unpushed[n] ?? 0));
  expect(request).toBeGreaterThan(0);
  expect(invitation).toBeLessThanOrEqual(request);
});
