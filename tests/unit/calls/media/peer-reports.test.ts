import { expect, it, vi } from "vitest";
import { PeerReports } from "#calls/media/peer-reports.ts";
import { hangUpText, leavingText, type MediaState } from "#calls/signaling/messages.ts";

const makeState = (n: number): MediaState => ({
  n,
  muted: n % 2 === 0,
  video: false,
  takesVideo: true,
  wantsVideo: true,
  camera: true,
  sound: "sent",
  hears: "sound",
});

const makeReports = () => {
  const events = { changed: vi.fn(), hungUp: vi.fn() };
  return { events, reports: new PeerReports(events) };
};

it("the newest media state counts, whether it came over the data channel or as a signal", () => {
  const { events, reports } = makeReports();
  reports.receiveText(JSON.stringify(makeState(2)));
  reports.receiveState(makeState(1));
  expect(reports.state).toEqual(makeState(2));
  reports.receiveState(makeState(3));
  expect(reports.state).toEqual(makeState(3));
  expect(events.changed).toHaveBeenCalledTimes(2);
});

it("a page that announced its end stays gone when an earlier state arrives, until the next generation", () => {
  const { events, reports } = makeReports();
  reports.receiveText(leavingText);
  reports.receiveText(JSON.stringify(makeState(5)));
  expect(reports.isGone).toBe(true);
  reports.reset();
  expect([reports.isGone, reports.state]).toEqual([false, undefined]);
  reports.receiveState(makeState(1));
  expect(reports.state).toEqual(makeState(1));
  expect(events.hungUp).not.toHaveBeenCalled();
});

it("hanging up is reported, and an unreadable text is ignored", () => {
  const { events, reports } = makeReports();
  reports.receiveText("not a report");
  reports.receiveText(hangUpText);
  expect(events.hungUp).toHaveBeenCalledOnce();
  expect([events.changed.mock.calls.length, reports.state, reports.isGone]).toEqual([0, undefined, false]);
});
