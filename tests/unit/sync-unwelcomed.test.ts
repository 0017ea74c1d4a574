import { expect, it, vi } from "vitest";
import { becomesLevel, textsIn } from "../support/model-checks";
import { ModelSocket } from "../support/model-socket";
import { makeDevice, makePair } from "../support/model-world";

it("a socket that answers pings and never says welcome is given up for another", async () => {
  const { server, amina, benoit, chat } = makePair();
  const phone = makeDevice(server, amina);
  const { send } = ModelSocket.prototype;
  // As when the object could not read its own tables in that moment.
  const hello = vi.spyOn(ModelSocket.prototype, "send").mockImplementation(function (this: ModelSocket, text) {
    if (text.startsWith('["h"')) hello.mockRestore();
    else send.call(this, text);
  });
  const tab = await phone.openTab();
  server.post(benoit, chat, "are you there?");
  await becomesLevel(server, tab, chat);
  expect(await textsIn(tab, chat)).toEqual(["are you there?"]);
  expect(phone.sockets).toHaveLength(2);
});
