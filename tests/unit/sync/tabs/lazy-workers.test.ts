import { expect, it, vi } from "vitest";
import { enqueuePost } from "#sync/feed/post-queue.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const code = vi.hoisted(() => ({ isMissing: true, asked: 0 }));

vi.mock(import("#sync/feed/post-sender.ts"), async (importOriginal) => {
  const { createPostSender } = await importOriginal();
  return {
    get createPostSender() {
      code.asked++;
      if (code.isMissing) throw new TypeError("Failed to fetch dynamically imported module");
      return createPostSender;
    },
  };
});

it("sends written messages though the code for it could not be loaded at first, without another event", async () => {
  const { server, amina } = makePair();
  const tab = await makeDevice(server, amina).openTab();
  await eventually(() => expect(tab.link.get()).toBe("online"));
  await enqueuePost(tab, "waits", undefined, "everyone");
  await eventually(() => expect(code.asked).toBeGreaterThan(0));
  code.isMissing = false;
  await eventually(() => expect(server.tala.texts).toEqual(["waits"]));
});
