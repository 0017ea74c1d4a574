import { expect, it } from "vitest";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

it("the leader sends what another tab has written as soon as it is told", async () => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  const [leader, follower] = [await phone.openTab(), await phone.openTab()];
  await waitUntilDeviceSynced(server, leader, chat);
  expect([leader.isLeader, follower.isLeader]).toEqual([true, false]);
  for (const count of [1, 2, 3, 4, 5]) {
    const writtenAt = phone.now();
    await enqueueText(follower, chat, "Mbote");
    await eventually(() => expect(server.log(chat).messages).toHaveLength(count));
    // By the clock of the device, which stands still while there is work: no timer had to send it.
    expect(phone.now() - writtenAt).toBeLessThan(1_000);
  }
});
