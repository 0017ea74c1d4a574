import { expect, test } from "vitest";
import { pushConversationPauseMs } from "#contract/limits/push.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { request, sendTexts } from "#tests/worker/support/device.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";
import { bodies, runAlarm, settle, startPushServices, subscribe, waitForUnread } from "./push-fixture.ts";

startPushServices();

test("an edit notifies nobody, and a push that was not sent yet shows the new text", async () => {
  const { ana, ben, id } = await makePair();
  const phone = await subscribe(ben);
  advanceClock(0);
  await sendTexts(ana, id, "un");
  await phone.next();
  const edit = (target: number, text: string) =>
    request(ana, { type: "editMessage", conversation: id, target, edit: 0, text });
  expect(await edit(1, "un bis")).toMatchObject({ edited: 1 });
  await settle();
  expect(phone.requests).toBe(1);
  await sendTexts(ana, id, "deux");
  await waitForUnread(ben, id, 2);
  await edit(2, "deux bis");
  advanceClock(pushConversationPauseMs);
  await runAlarm(ben);
  await phone.next(2);
  expect(bodies(phone)[1]).toContain("deux bis");
  await settle();
  expect(phone.requests).toBe(2);
});
