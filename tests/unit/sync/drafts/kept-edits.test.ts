import { expect, it } from "vitest";
import type { Uuid } from "#contract/ids.ts";
import { EditKeeper } from "#sync/drafts/edit-keeper.ts";
import { endDraft } from "#sync/unsent/draft-row.ts";
import { changeDraft, findDraft } from "#sync/unsent/drafts.ts";
import { getContext } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const setUp = async () => {
  const { server, amina, chat } = makePair();
  const device = makeDevice(server, amina);
  const context = getContext(await device.openTab());
  return {
    device,
    deleteAll: () => void changeDraft(context.unsent, chat, (draft) => endDraft(draft, 1)),
    /** Tells the tab of what was typed, as after a moment. */
    notice: () => context.unsent.flush(),
    open: (item: { seq?: number; cid?: Uuid }) => new EditKeeper(context, chat, item),
    list: () => (findDraft(context.unsent, chat).parked ?? []).map(({ text }) => text),
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

it("words that stand in the field of a tab stay when another tab that opened them cancels, saves or replaces them", async () => {
  const { open, list, notice } = await setUp();
  const first = open({ seq: 3 });
  const end = first.watch();
  first.keep("un premier");
  open({ seq: 3 }).keep(undefined); // opened and cancelled without typing
  expect(list()).toEqual(["un premier"]);
  const second = open({ seq: 3 });
  const endSecond = second.watch();
  expect(second.text).toBe("un premier");
  second.keep("un premier, puis");
  expect(list()).toEqual(["un premier, puis"]); // contains them
  second.keep("un second");
  await notice();
  expect(list()).toEqual(["un premier", "un second"]);
  expect(open({ seq: 3 }).text).toBe("un second"); // typed last
  second.keep(undefined);
  expect(list()).toEqual(["un premier"]);
  endSecond();
  first.keep(undefined);
  expect(list()).toEqual([]);
  end();
});

it("words in an open field are kept again when the page is left or resumed, but not after a sign-out or the end of the edit", async () => {
  const { device, open, list, deleteAll } = await setUp();
  const keeper = open({ seq: 3 });
  keeper.keep("un");
  deleteAll(); // unnoticed, as in a frozen page
  const end = keeper.watch();
  expect(list()).toEqual([]);
  device.enterBackground();
  expect(list()).toEqual(["un"]);
  device.isSignedIn = false;
  deleteAll();
  device.enterBackground();
  device.wake();
  expect(list()).toEqual([]);
  device.isSignedIn = true;
  device.wake();
  expect(list()).toEqual(["un"]);
  end();
  deleteAll();
  device.enterBackground();
  expect(list()).toEqual([]);
});
