import { expect, it } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { toInvitationTag, toRequestTag } from "#contract/push.ts";
import { listAnsweredRequests, listDoubtfulInvitations } from "#features/push/close-answered-requests.ts";

const [ana, ben] = [createUuid(), createUuid()];
const invitation = toInvitationTag(createUuid());
const shown = [toRequestTag(ana), toRequestTag(ben), invitation, "summary", "c:1"].map((tag) => ({ tag }));
const toState = (before: string[], received: string[], isVisible: boolean) => ({
  before: { people: before, invitations: 0 },
  now: { people: received, invitations: 0 },
  isVisible,
});
const list = (...state: Parameters<typeof toState>) =>
  listAnsweredRequests(shown, toState(...state)).map(({ tag }) => tag);

it("closes the notification of a request that is answered, and no other", () => {
  expect(list([ana, ben], [ben], false)).toEqual([toRequestTag(ana)]);
  expect(list([ana, ben], [ana, ben], true)).toEqual([]);
});

it("keeps the notification of a request that a hidden page has not received, until it is visible", () => {
  expect(list([], [], false)).toEqual([]);
  expect(list([ana], [ana], true)).toEqual([toRequestTag(ben)]);
});

it("doubts notifications of invitations when fewer wait than before, or none does on a visible page", () => {
  const doubt = (before: number, now: number, isVisible: boolean) =>
    listDoubtfulInvitations(shown, {
      before: { people: [], invitations: before },
      now: { people: [], invitations: now },
      isVisible,
    }).map(({ tag }) => tag);
  expect([doubt(2, 1, false), doubt(1, 0, false), doubt(0, 0, true)]).toEqual([
    [invitation],
    [invitation],
    [invitation],
  ]);
  expect([doubt(1, 1, true), doubt(0, 1, true), doubt(0, 0, false)]).toEqual([[], [], []]);
});
