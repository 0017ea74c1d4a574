import { expect, it } from "vitest";
import type { Uuid } from "#contract/ids.ts";
import { EditKeeper } from "#sync/drafts/edit-keeper.ts";
import { listKeptTexts } from "#sync/drafts/kept-texts.ts";
import { getContext } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const setUp = async () => {
  const { server, amina, chat } = makePair();
  const context = getContext(await makeDevice(server, amina).openTab());
  return {
    open: (item: { seq?: number; cid?: Uuid }) => new EditKeeper(context, chat, item),
    list: () => listKeptTexts(context, chat).map(({ text }) => text),
  };
};

it("the words of an edit in one tab stay when another tab saves its edit of the same message", async () => {
  const { open, list } = await setUp();
  const [first, second] = [open({ seq: 3 }), open({ seq: 3 })];
  first.keep("un");
  second.keep("deux");
  first.keep("un et demi");
  first.keep(undefined);
  expect(list()).toEqual(["deux"]);
  const reloaded = open({ seq: 3 });
  expect(reloaded.text).toBe("deux");
  reloaded.keep("deux et demi");
  expect(list()).toEqual(["deux et demi"]);
});

it("two tabs that go on with the same words keep both, and the last typed are opened first", async () => {
  const { open, list } = await setUp();
  open({ seq: 3 }).keep("un");
  const [first, second] = [open({ seq: 3 }), open({ seq: 3 })];
  second.keep("un deux");
  first.keep("un trois");
  second.keep("un deux quatre");
  expect(list()).toEqual(["un trois", "un deux quatre"]);
  expect(open({ seq: 3 }).text).toBe("un deux quatre");
  second.keep(undefined);
  expect(list()).toEqual(["un trois"]);
});

it("an edit that began before its message was stored goes on afterwards", async () => {
  const { open, list } = await setUp();
  const cid = "019a0000-0000-7000-8000-000000000001";
  open({ cid }).keep("un");
  const later = open({ seq: 3, cid });
  expect(later.text).toBe("un");
  later.keep(undefined);
  expect(list()).toEqual([]);
});

it("no text is dropped, however many a conversation has", async () => {
  const { open, list } = await setUp();
  const texts = Array.from({ length: 40 }, (_, n) => `texte ${n}`);
  for (const [n, text] of texts.entries()) open({ seq: n + 1 }).keep(text);
  expect(list()).toEqual(texts);
});
