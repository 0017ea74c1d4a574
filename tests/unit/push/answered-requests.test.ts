import { expect, it } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { toRequestTag } from "#contract/push.ts";
import { listAnsweredRequests } from "#features/push/answered-requests.ts";

const [ana, ben] = [createUuid(), createUuid()];
const shown = [toRequestTag(ana), toRequestTag(ben), "summary", "c:1"].map((tag) => ({ tag }));
const list = (before: string[], received: string[], isVisible: boolean) =>
  listAnsweredRequests(shown, { before, received, isVisible }).map(({ tag }) => tag);

it("closes the notification of a request that is answered, and no other", () => {
  expect(list([ana, ben], [ben], false)).toEqual([toRequestTag(ana)]);
  expect(list([ana, ben], [ana, ben], true)).toEqual([]);
});

it("keeps the notification of a request that a hidden page has not received, until it is visible", () => {
  expect(list([], [], false)).toEqual([]);
  expect(list([ana], [ana], true)).toEqual([toRequestTag(ben)]);
});
