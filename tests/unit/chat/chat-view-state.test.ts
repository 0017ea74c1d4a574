import { expect, it } from "vitest";
import { paneStateOf } from "#features/chat/chat-view-state.ts";

const none = { items: [], loading: false };
const around = { isHeardOf: true, isOffline: false, isFull: false };

it("a chat waits for the server's first word of it, and without a network says that there is none", () => {
  expect(paneStateOf(undefined, around)).toBe("waiting");
  expect(paneStateOf({ ...none, loading: true }, around)).toBe("waiting");
  expect(paneStateOf(none, { ...around, isHeardOf: false })).toBe("waiting");
  expect(paneStateOf(none, { ...around, isHeardOf: false, isOffline: true })).toBe("offline");
  expect(paneStateOf(none, around)).toBe("empty");
});

it("a full phone says so where it can take in nothing of a chat, until it has room", () => {
  const full = { ...around, isFull: true };
  expect(paneStateOf(none, { ...full, isHeardOf: false })).toBe("full");
  expect(paneStateOf(none, { ...full, isHeardOf: false, isOffline: true })).toBe("full");
  expect(paneStateOf({ ...none, loading: true }, full)).toBe("full");
  expect(paneStateOf(none, full)).toBe("empty"); // what the server had to tell of it is here
  expect(paneStateOf(none, { ...around, isHeardOf: false })).toBe("waiting");
});
