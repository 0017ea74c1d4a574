import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { receiptHoldMs } from "#contract/limits/delivery.ts";
import { readRow, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";
import {
  channelOf,
  kill,
  killConversation,
  runAlarm,
  runConversationAlarm,
  settle,
  startPushServices,
  subscribe,
} from "./push-fixture.ts";
import { makeOtherSession } from "./push-service.ts";

startPushServices();

test("an object that dies between the stored message and the push lets the next one push it, once", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(ben);
  const isAccepted = phone.answer;
  phone.answer = undefined; // the push service never answers
  await sendTexts(ana, id, "un");
  await waitUntil(() => phone.requests === 1);
  await kill(ben);
  phone.answer = isAccepted;
  await runConversationAlarm(id);
  const { payload } = await phone.next();
  expect([payload.data.count, payload.notification.body]).toEqual([1, "un"]);
  await settle(); // until the mark is written
  await kill(ben);
  await sendTexts(ben, id, "merci"); // wakes it
  await runAlarm(ben);
  await settle();
  expect(phone.received).toHaveLength(1);
});

test("both objects die before the push, and it is sent all the same", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(ben);
  const isAccepted = phone.answer;
  phone.answer = undefined;
  await sendTexts(ana, id, "un");
  await waitUntil(() => phone.requests === 1);
  await kill(ben);
  await killConversation(id);
  phone.answer = isAccepted;
  await runConversationAlarm(id);
  expect((await phone.next()).payload.data).toMatchObject({ count: 1, head: 1 });
});

test("a push that takes longer than its row may wait is repeated after a death by the alarm", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(ben);
  const isAccepted = phone.answer;
  phone.answer = undefined;
  await sendTexts(ana, id, "un");
  await waitUntil(() => phone.requests === 1);
  await scheduler.wait(receiptHoldMs + 500);
  await kill(ben);
  phone.answer = isAccepted;
  expect(await runAlarm(ben)).toBe(true);
  expect((await phone.next()).payload.data).toMatchObject({ count: 1, head: 1 });
});

test("a device that opens during the push gets the message, and after a death the push is repeated", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(await makeOtherSession(ben));
  const isAccepted = phone.answer;
  phone.answer = undefined;
  await sendTexts(ana, id, "un");
  await waitUntil(() => phone.requests === 1);
  expect(await readRow(ben, id)).toMatchObject({ head: 1, unread: 1 });
  await kill(ben);
  phone.answer = isAccepted;
  expect(await runAlarm(ben)).toBe(true);
  expect((await phone.next()).payload.data).toMatchObject({ count: 1, head: 1 });
});

test("a second message during the push of the first is pushed too, although the object dies after the first", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(ben);
  phone.delayMs = 1_000;
  await sendTexts(ana, id, "un");
  await waitUntil(() => phone.requests === 1);
  await sendTexts(ana, id, "deux");
  await waitUntil(() => phone.received.length === 1);
  await settle(); // until the mark is written
  phone.delayMs = 0;
  await kill(ben);
  expect(await runAlarm(ben)).toBe(true);
  await waitUntil(() => phone.received.at(-1)?.payload.data.head === 2, 15_000);
  expect(await readRow(ben, id)).toMatchObject({ head: 2, unread: 2 });
});

test("an object that starts finds a message without a push behind any number of conversations changed later", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(ben);
  const isAccepted = phone.answer;
  phone.answer = undefined;
  await sendTexts(ana, id, "un");
  await waitUntil(() => phone.requests === 1);
  expect(await readRow(ben, id)).toMatchObject({ unread: 1 }); // writes the row
  await runInDurableObject(channelOf(ben), (_, { storage: { sql } }) => {
    const row = sql.exec<Record<string, SqlStorageValue>>("SELECT * FROM inbox WHERE conversation = ?", id).one();
    for (let n = 1; n <= 100; n++) {
      const copy = { ...row, handle: 1_000 + n, conversation: createUuid(), bucket: 1_000 + n, unread: 0 };
      const [names, marks] = [Object.keys(copy), Object.keys(copy).map(() => "?")];
      sql.exec(`INSERT INTO inbox (${names.join()}) VALUES (${marks.join()})`, ...Object.values(copy));
    }
  });
  await kill(ben);
  phone.answer = isAccepted;
  await runAlarm(ben);
  expect((await phone.next()).payload.notification.body).toBe("un");
});

test("an object that dies between the push and its record repeats it, and the device shows one notification", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(ben);
  phone.losesAnswers = true;
  await sendTexts(ana, id, "un");
  await phone.next();
  await kill(ben);
  phone.losesAnswers = false;
  await runConversationAlarm(id);
  await phone.next(2);
  const [first, second] = phone.received;
  expect(second?.headers.get("topic")).toBe(first?.headers.get("topic"));
  expect(second?.payload.notification).toEqual(first?.payload.notification);
  expect(second?.payload.data).toMatchObject({ head: 1, count: 1 });
});
