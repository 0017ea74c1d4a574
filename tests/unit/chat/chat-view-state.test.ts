import { expect, it } from "vitest";
import { toChatViewState } from "#features/chat/chat-view-state.ts";

const none = { items: [], loading: false };
const around = { isSynced: true, isOffline: false, isStorageFull: false };

it("a chat loads until the server's first answer, and without network shows that there is none", () => {
  expect(toChatViewState(undefined, around)).toBe("waiting");
  expect(toChatViewState({ ...none, loading: true }, around)).toBe("waiting");
  expect(toChatViewState(none, { ...around, isSynced: false })).toBe("waiting");
  expect(toChatViewState(none, { ...around, isSynced: false, isOffline: true })).toBe("offline");
  expect(toChatViewState(none, around)).toBe("empty");
});

it("a full phone shows an error if it cannot store a chat, until it has room", () => {
  const full = { ...around, isStorageFull: true };
  expect(toChatViewState(none, { ...full, isSynced: false })).toBe("full");
  expect(toChatViewState(none, { ...full, isSynced: false, isOffline: true })).toBe("full");
  expect(toChatViewState({ ...none, loading: true }, full)).toBe("full");
  expect(toChatViewState(none, full)).toBe("empty"); // The server's data for the chat is stored.
  expect(toChatViewState(none, { ...around, isSynced: false })).toBe("waiting");
});
