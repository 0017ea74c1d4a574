import type { TestClient } from "./test-client.ts";

const typingDelayMs = 300;

/** Keeps typing until something is seen: the typing indicator ends when a person pauses. */
export const typeUntil = async (phone: TestClient, seen: Promise<unknown>): Promise<void> => {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  seen.then(end, end);
  while (!isOver) await phone.composer().pressSequentially("a", { delay: typingDelayMs });
  await seen;
};
