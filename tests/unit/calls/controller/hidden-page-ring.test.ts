import { describe, expect, it } from "vitest";
import { makeCallPair } from "#tests/support/model/call-pair.ts";

/** Ana calls Ben, whose only page is hidden and whose device shows notifications. */
const ringHidden = async (hasSystemNotifications = true) => {
  const pair = await makeCallPair();
  pair.b.setVisible(false);
  pair.benBrowser.hasSystemNotifications = hasSystemNotifications;
  await pair.ring();
  return pair;
};

describe("a hidden page of a ringing call", () => {
  it("is silent while the notification of the call sounds, and rings once it is looked at", async () => {
    const { time, b } = await ringHidden();
    expect([b.phase, b.tone]).toEqual(["ringing", "none"]);
    expect(b.mediaSessions).toHaveLength(1); // the call can be answered at once
    b.showRingNotification();
    await time.pass(10_000);
    expect([b.phase, b.tone]).toEqual(["ringing", "none"]);
    b.setVisible(true);
    expect(b.tone).toBe("ringtone");
    b.setVisible(false);
    expect(b.tone).toBe("none");
    b.controller.handleUserAction({ type: "reject" });
    await time.pass(100);
    b.setVisible(true);
    expect(b.tone).toBe("none");
  });

  it("rings if no notification is shown in time, until one is", async () => {
    const { time, b } = await ringHidden();
    await time.pass(5_000);
    expect(b.tone).toBe("ringtone");
    b.showRingNotification();
    expect(b.tone).toBe("none");
  });

  it("rings at once on a device without notifications", async () => {
    const { b } = await ringHidden(false);
    expect(b.tone).toBe("ringtone");
  });

  it("goes on ringing when it was looked at before, until a notification is shown", async () => {
    const { time, benBrowser, b, ring } = await makeCallPair();
    benBrowser.hasSystemNotifications = true;
    await ring();
    b.setVisible(false);
    await time.pass(1_000);
    expect(b.tone).toBe("ringtone");
    b.showRingNotification();
    expect(b.tone).toBe("none");
  });
});
