import { describe, expect, it } from "vitest";
import { expectQuiet, makeCallPair } from "../support/call-pair";

describe("hanging up", () => {
  it("ends at once on both sides, alike, and the server is told once it can be", async () => {
    const { time, server, a, b, talk, setDead } = await makeCallPair();
    await talk();
    setDead(true);
    await time.pass(7_300);
    a.engine.act({ type: "hangUp" });
    const hers = a.view?.state;
    expect(hers).toMatchObject({ at: "ended", status: "ended" });
    await time.pass(100);
    expect(b.view?.state).toMatchObject({
      at: "ended",
      status: "ended",
      seconds: hers?.at === "ended" ? hers.seconds : -1,
    });
    await time.pass(5_000);
    expectQuiet(a, b);
    setDead(false);
    await time.pass(4_000);
    expect(server.lines).toMatchObject([{ status: "ended" }]);
    for (const { browser } of [a, b]) expect([...browser.memory.keys()]).toEqual(["device"]);
  });

  it("whose server is away for that side alone is ended there by the other side", async () => {
    const { time, server, hers, a, b, talk } = await makeCallPair();
    await talk();
    hers.lost = 1;
    a.engine.act({ type: "hangUp" });
    await time.pass(200);
    expect(b.at).toBe("ended");
    expect(server.lines).toMatchObject([{ status: "ended" }]);
    hers.lost = 0;
    await time.pass(30_000);
    expectQuiet(a, b);
    expect(server.lines).toHaveLength(1);
    expect([...hers.memory.keys()]).toEqual(["device"]);
  });

  it("that does not come through ends the call here at once, and there when the server is back", async () => {
    const { time, server, his, a, b, talk, setDead } = await makeCallPair();
    await talk();
    his.isDeaf = true;
    setDead(true);
    a.engine.act({ type: "hangUp" });
    await time.pass(4_000);
    expectQuiet(a);
    await time.pass(6_000);
    setDead(false);
    await time.pass(4_000);
    expectQuiet(b);
    expect(server.lines).toMatchObject([{ status: "ended" }]);
  });
});

describe("an end", () => {
  it("is told also when the page has gone meanwhile", async () => {
    const { time, server, a, b, ring, hers } = await makeCallPair();
    await ring();
    hers.setOffline(true);
    a.engine.act({ type: "hangUp" });
    await time.pass(100);
    a.kill();
    await time.pass(2_000);
    expect(b.at).toBe("ringing");
    hers.setOffline(false);
    await hers.openTab();
    await time.pass(1_000);
    expect(server.lines).toMatchObject([{ status: "missed" }]);
    await time.pass(3_000);
    expectQuiet(b);
    expect([...hers.memory.keys()]).toEqual(["device"]);
  });

  it("of a tab that has gone is told by another one that was there all the time", async () => {
    const { time, server, a, b, ring, hers } = await makeCallPair();
    const second = await hers.openTab();
    await ring();
    hers.setOffline(true);
    a.engine.act({ type: "hangUp" });
    await time.pass(100);
    a.kill();
    await time.pass(6_000);
    expect([b.at, second.at]).toEqual(["ringing", "idle"]);
    hers.setOffline(false);
    await time.pass(1_000);
    expect(server.lines).toMatchObject([{ status: "missed" }]);
    await time.pass(3_000);
    expectQuiet(b, second);
    expect([...hers.memory.keys()]).toEqual(["device"]);
  });
});
