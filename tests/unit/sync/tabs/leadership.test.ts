import { expect, it, vi } from "vitest";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { listShown } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const code = vi.hoisted(() => ({ isMissing: false, asked: 0 }));

vi.mock(import("#sync/engine/server-code.ts"), async (importOriginal) => {
  const original = await importOriginal();
  return {
    ...original,
    get Leader() {
      code.asked++;
      if (code.isMissing) throw new TypeError("Failed to fetch dynamically imported module");
      return original.Leader;
    },
  };
});

it("connects once the first screen is drawn, and then sends what was written before", async () => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  let draw = () => {};
  phone.firstScreen = new Promise((resolve) => {
    draw = resolve;
  });
  const tab = await phone.openTab();
  await enqueueText(tab, chat, "early");
  await phone.pass(5_000);
  expect([tab.link.get(), code.asked, await listShown(tab, chat)]).toEqual(["connecting", 0, ["early sending"]]);
  draw();
  await eventually(async () => expect(await listShown(tab, chat)).toEqual(["early sent"]));
});

it("sends a message though the code of the connection could not be loaded at first, without another event", async () => {
  code.isMissing = true;
  const { server, amina, chat } = makePair();
  const tab = await makeDevice(server, amina).openTab();
  await enqueueText(tab, chat, "waits");
  await eventually(() => expect(code.asked).toBeGreaterThan(0));
  code.isMissing = false;
  await eventually(async () => expect(await listShown(tab, chat)).toEqual(["waits sent"]));
});
