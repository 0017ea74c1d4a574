import { afterEach, describe, expect, it, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { DraftKeeper } from "#sync/drafts/draft-keeper.ts";
import { trackDraftSave, waitForDraftSaves } from "#sync/drafts/pending-saves.ts";
import type { Draft } from "#sync/store/view-models.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const toDraft = (text: string): Draft => ({ files: [], captions: new Map(), isOriginal: false, text, to: [] });

afterEach(() => {
  vi.restoreAllMocks();
});

describe("the draft of a screen that is left", () => {
  it("is saved before the next screen of its target reads the store, and restored there", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    const first = DraftKeeper.open(tab, chat);
    void first.then((keeper) => keeper?.save(toDraft("Mbote")));
    trackDraftSave(
      chat,
      first.then((keeper) => keeper?.close()),
    );
    await waitForDraftSaves(chat);
    const restored: string[] = [];
    const second = await DraftKeeper.open(tab, chat, ({ text }) => restored.push(text));
    expect(restored).toEqual(["Mbote"]);
    await second?.discard();
    await DraftKeeper.open(tab, chat, ({ text }) => restored.push(text));
    expect(restored).toEqual(["Mbote"]);
  });

  it("does not delay other targets, nor the next screen for ever if it cannot be saved", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const [chat, other] = [createUuid(), createUuid()];
    let finish = () => {};
    trackDraftSave(chat, new Promise<void>((resolve) => (finish = resolve)));
    trackDraftSave(chat, Promise.reject(new Error("no store")));
    trackDraftSave(chat, undefined);
    let isSaved = false;
    const saved = waitForDraftSaves(chat).then(() => {
      isSaved = true;
    });
    await waitForDraftSaves(other);
    expect(isSaved).toBe(false);
    finish();
    await saved;
    expect(warn).toHaveBeenCalledOnce();
  });
});
