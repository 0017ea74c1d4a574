import { expect, it } from "vitest";
import { encodeServerFrame, type ServerFrame, toSocketBase } from "#contract/wire/server-frames.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

it("a device that received more than it can queue fetches what it discarded at once", async () => {
  const { server, amina, benoit, chat } = makePair();
  const phone = makeDevice(server, amina);
  const tab = await phone.openTab();
  await waitUntilDeviceSynced(server, tab, chat);
  const inbox = server.inbox(amina);
  const known = inbox.people.get(benoit)?.relation;
  if (!known) throw new Error("no relation");
  const relation = { ...known, profile: { ...known.profile, username: "Ben" } };
  inbox.counter += 1;
  inbox.people.set(benoit, { relation, changed: inbox.counter });
  const [socket] = phone.sockets;
  const { counter } = inbox;
  const base = toSocketBase({ counter, now: 0 });
  const receive = (frame: ServerFrame) =>
    socket?.dispatchEvent(new MessageEvent("message", { data: encodeServerFrame(frame, base) }));
  // Received before the first of them is stored. The second one contains the change.
  receive({ type: "notice", counter: base.counter, notice: null });
  receive({ type: "person", counter, relation });
  for (let n = 0; n < 12_000; n++) receive({ type: "notice", counter, notice: null });
  await eventually(async () =>
    expect(await getContext(tab).store.people.get(benoit)).toMatchObject({ username: "Ben" }),
  );
  expect(phone.sockets).toHaveLength(2);
});
