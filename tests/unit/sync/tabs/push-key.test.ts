import { expect, it } from "vitest";
import { eventually } from "#tests/support/model/eventually.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

it("tells the leader tab, and no other, that the key of the push subscription has changed", async () => {
  const { server, amina } = makePair();
  const phone = makeDevice(server, amina);
  const [leader, other] = [await phone.openTab(), await phone.openTab()];
  await eventually(() => expect(leader.link.get()).toBe("online"));
  await eventually(() => expect(other.link.get()).toBe("online"));
  expect(leader.pushKeyVersion.get()).toBe(0);
  phone.sockets.at(-1)?.announceKeyChange();
  await eventually(() => expect(leader.pushKeyVersion.get()).toBe(1));
  expect(other.pushKeyVersion.get()).toBe(0);
});
