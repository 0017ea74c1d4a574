import { expect, test } from "vitest";
import { fanOutAtOnce } from "#contract/limits/delivery.ts";
import { FanOut } from "#worker/objects/conversation/delivery/fan-out.ts";

const microtasks = 50; // more than an answer takes until the next channel is called

/** Fan-out to channels that answer on demand, and the members it has notified so far. */
const newFanOut = (head = 1) => {
  const notified: number[] = [];
  const underWay: (() => void)[] = [];
  const fanOut = new FanOut(
    {
      progressOf: () => ({ head, revision: 0 }),
      notify: (member) => {
        notified.push(member);
        return new Promise((resolve) => underWay.push(() => resolve("written")));
      },
      onFailure: () => undefined,
    },
    new Map(),
  );
  /** Answers the channel that was called first. No timer runs meanwhile, so a slow machine ends no time limit. */
  const answerOne = async () => {
    underWay.shift()?.();
    for (let i = 0; i < microtasks; i++) await Promise.resolve();
  };
  return { fanOut, notified, answerOne };
};

const many = Array.from({ length: 100 }, (_, member) => member);

test("the member who made a change is notified first, and again if more happened meanwhile", async () => {
  const { fanOut, notified, answerOne } = newFanOut();
  for (const member of many) fanOut.schedule(member);
  fanOut.scheduleUrgent(99);
  let isSettled = false;
  const settled = fanOut.waitUntilDelivered(99).then(() => {
    isSettled = true;
  });
  expect(notified).toEqual(many.slice(0, fanOutAtOnce));
  await answerOne();
  expect(notified.at(-1)).toBe(99);
  fanOut.scheduleUrgent(99); // another change while the first is in progress
  for (let i = 0; i < fanOutAtOnce; i++) await answerOne();
  expect(notified.filter((member) => member === 99)).toHaveLength(2);
  expect(notified.length).toBeLessThan(3 * fanOutAtOnce);
  expect(isSettled).toBe(false);
  for (let i = 0; i < fanOutAtOnce; i++) await answerOne();
  await settled;
  expect(notified.length).toBeLessThan(4 * fanOutAtOnce);
  // Nobody is skipped, and nobody is notified twice.
  while (notified.length < many.length + 1) await answerOne();
  expect([...notified].sort((a, b) => a - b)).toEqual([...many, 99]);
});
