import { expect, it } from "vitest";
import { toChatViewState } from "#features/chat/chat-view-state.ts";

const none = { items: [], loading: false };
const around = { isSynced: true, isOffline: false, isStorageFull: false };

it("a chat waits for the server's first word of it, and without a network says that there is none", () => {
  expect(toChatViewState(undefined, around)).toBe("waiting");
  expect(toChatViewState({ ...none, loading: true }, around)).toBe("waiting");
  expect(toChatViewState(none, { ...around, isSynced: false })).toBe("waiting");
  expect(toChatViewState(none, { ...around, isSynced: false, isOffline: true })).toBe("offline");
  expect(toChatViewState(none, around)).toBe("empty");
});

it("a full phone says so where it can take in nothing of a chat, until it has room", () => {
  const full = { ...around, isStorageFull: true };
  expect(toChatViewState(none, { ...full, isSynced: false })).toBe("full");
  expect(toChatViewState(none, { ...full, isSynced: false, isOffline: true })).toBe("full");
  expect(toChatViewState({ ...none, loading: true }, full)).toBe("full");
  expect(toChatViewState(none, full)).toBe("empty"); // what the server had to tell of it is here
  expect(toChatViewState(none, { ...around, isSynced: false })).toBe("waiting");
});
