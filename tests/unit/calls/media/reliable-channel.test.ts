import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { classifyFrame, parseSignal, type SignalFrame, type SignalItem } from "#calls/signaling/messages.ts";
import { ReliableChannel } from "#calls/signaling/reliable-channel.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const item = (n: number): SignalItem => ({ d: "answer", n, sdp: `v=0 ${n}` });
const read = (text: string): SignalFrame => {
  const frame = parseSignal(text);
  if (!frame) throw new Error(`not a signal: ${text}`);
  return frame;
};

/** Two channels and a server between them that may lose, duplicate and delay frames. */
const makePair = (carry: (hand: () => void, number: number) => void = (hand) => hand()) => {
  const got: Record<"a" | "b", SignalItem[]> = { a: [], b: [] };
  const posted: Record<"a" | "b", string[]> = { a: [], b: [] };
  let number = 0;
  const make = (me: "a" | "b", epoch: number, peerEpoch: number): ReliableChannel =>
    new ReliableChannel(epoch, peerEpoch, {
      sendFrame: (text) => {
        posted[me].push(text);
        carry(() => (me === "a" ? b : a).receive(read(text)), number++);
      },
      deliver: (item) => got[me].push(item),
    });
  const a: ReliableChannel = make("a", 1, 2);
  const b: ReliableChannel = make("b", 2, 1);
  return { a, b, got, posted };
};

describe("a reliable channel", () => {
  it("delivers each item at once and in order, and then sends nothing more", () => {
    const { a, got, posted } = makePair();
    for (let n = 1; n <= 3; n++) a.send(item(n));
    expect(got.b).toEqual([item(1), item(2), item(3)]);
    vi.advanceTimersByTime(60_000);
    expect(posted.a).toHaveLength(3);
    expect(posted.b).toHaveLength(1); // One acknowledgement for all three.
  });

  it("resends unacknowledged items after one, two and four seconds", () => {
    const { a, posted } = makePair(() => undefined);
    a.send(item(1));
    const times = [1_000, 2_000, 4_000, 4_000];
    for (const [index, wait] of times.entries()) {
      vi.advanceTimersByTime(wait - 1);
      expect(posted.a).toHaveLength(index + 1);
      vi.advanceTimersByTime(1);
      expect(posted.a).toHaveLength(index + 2);
    }
  });

  it("resends all unacknowledged items in one frame on request", () => {
    const { a, posted } = makePair(() => undefined);
    a.send(item(1));
    a.send(item(2));
    a.resend();
    expect(read(posted.a.at(-1) ?? "").x).toEqual([item(1), item(2)]);
  });

  it("delivers everything once and in order over a server that loses half, duplicates and reorders", () => {
    for (let round = 0; round < 50; round++) {
      const { a, b, got } = makePair((hand, number) => {
        const percent = (number * 7919 + round * 104_729) % 100;
        if (percent < 50) return;
        setTimeout(hand, (percent * 37) % 700);
        if (percent > 80) setTimeout(hand, (percent * 53) % 900);
      });
      const sent = Array.from({ length: 12 }, (_, index) => item(index + 1));
      for (const one of sent) {
        a.send(one);
        vi.advanceTimersByTime(130);
        b.send(one);
      }
      vi.advanceTimersByTime(300_000);
      expect(got).toEqual({ a: sent, b: sent });
    }
  });

  it("sends candidates of one generation found within a moment as one item", () => {
    const { a, got, posted } = makePair();
    a.sendCandidate("one", "0", "u1");
    a.sendCandidate("two", "0", "u1");
    vi.advanceTimersByTime(50);
    expect(posted.a).toHaveLength(0);
    vi.advanceTimersByTime(50);
    a.sendCandidate("three", "0", "u1");
    a.sendCandidate("four", "0", "u2");
    vi.advanceTimersByTime(100);
    expect(got.b).toEqual([
      {
        u: "u1",
        c: [
          ["one", "0"],
          ["two", "0"],
        ],
      },
      { u: "u1", c: [["three", "0"]] },
      { u: "u2", c: [["four", "0"]] },
    ]);
  });

  it("does not resend an offer, or its candidates, once a newer offer replaced it", () => {
    const { a, got, posted } = makePair(() => undefined);
    const generation = (n: number, u: string): SignalItem => ({ d: "offer", n, sdp: `v=0\r\na=ice-ufrag:${u}\r\n` });
    const answer: SignalItem = { d: "answer", n: 4, sdp: "v=0" };
    a.send(generation(1, "u1"));
    a.send(answer);
    a.send({ u: "u1", c: [["one", "0"]] });
    a.send(generation(2, "u2"));
    a.send({ u: "u2", c: [["two", "0"]] });
    a.send(generation(3, "u2"));
    a.resend();
    const hello: SignalItem = { hello: 1 };
    const last = read(posted.a.at(-1) ?? "");
    expect(last.s).toBe(1);
    expect(last.x).toEqual([hello, answer, hello, hello, { u: "u2", c: [["two", "0"]] }, generation(3, "u2")]);
    expect(got.b).toEqual([]);
  });

  it("never sends more than 16 KB in one frame", () => {
    const { a, b, got, posted } = makePair();
    b.close(); // acknowledges nothing
    const long = (n: number): SignalItem => ({ d: "answer", n, sdp: "x".repeat(5_000) });
    for (let n = 1; n <= 8; n++) a.send(long(n));
    posted.a.length = 0;
    a.resend();
    expect(got.b).toEqual([]);
    expect(posted.a.length).toBeGreaterThan(2);
    expect(posted.a.every((text) => text.length <= 16 * 1024)).toBe(true);
    expect(posted.a.flatMap((text) => read(text).x)).toEqual(Array.from({ length: 8 }, (_, n) => long(n + 1)));
  });

  it("restarts its numbering when the other side restarted, and resends what was not acknowledged", () => {
    const { a, got, posted } = makePair(() => undefined);
    a.receive({ e: 2, t: 1, s: 1, a: 0, x: [item(1)] });
    a.send(item(9));
    a.rebind(3);
    expect(read(posted.a.at(-1) ?? "")).toMatchObject({ t: 3, a: 0, x: [item(9)] });
    a.receive({ e: 3, t: 1, s: 1, a: 0, x: [item(2)] });
    expect(got.a).toEqual([item(1), item(2)]);
  });

  it("sends and delivers nothing once it is closed", () => {
    const { a, b, got, posted } = makePair(() => undefined);
    a.send(item(1));
    a.sendCandidate("one", "0", "u1");
    a.close();
    a.send(item(2));
    a.resend();
    a.receive({ e: 2, t: 1, s: 1, a: 0, x: [item(1)] });
    vi.advanceTimersByTime(60_000);
    expect(posted.a).toHaveLength(1);
    expect(got.a).toEqual([]);
    b.close();
  });
});

describe("a frame", () => {
  const frame = (e: number, t: number): SignalFrame => ({ e, t, s: 1, a: 0, x: [] });

  it("is accepted from the known instance, also before that one knows this side", () => {
    expect(classifyFrame(frame(5, 7), 7, 5)).toBe("accept");
    expect(classifyFrame(frame(5, 0), 7, 5)).toBe("accept");
  });
  it("makes its instance known", () => {
    expect(classifyFrame(frame(5, 0), 7, 0)).toBe("rebind");
    expect(classifyFrame(frame(5, 7), 7, 0)).toBe("rebind");
  });
  it("of a later instance that started by itself restarts this side", () => {
    expect(classifyFrame(frame(6, 0), 7, 5)).toBe("renew");
  });
  it("of a later instance that answers this side does not restart it", () => {
    expect(classifyFrame(frame(6, 7), 7, 5)).toBe("rebind");
  });
  it("of or for an earlier instance is dropped", () => {
    expect(classifyFrame(frame(4, 7), 7, 5)).toBe("drop");
    expect(classifyFrame(frame(5, 6), 7, 5)).toBe("drop");
    expect(classifyFrame(frame(6, 6), 7, 5)).toBe("drop");
  });
  it("that is malformed or too long is ignored", () => {
    expect(parseSignal("{")).toBeUndefined();
    expect(parseSignal('{"e":1}')).toBeUndefined();
    expect(parseSignal('{"e":1,"t":0,"s":1,"a":0,"x":[{"d":"prank","n":1,"sdp":""}]}')).toBeUndefined();
    expect(
      parseSignal(`{"e":1,"t":0,"s":1,"a":0,"x":[{"d":"offer","n":1,"sdp":"${"x".repeat(17_000)}"}]}`),
    ).toBeUndefined();
    expect(parseSignal('{"e":1,"t":0,"s":1,"a":0,"x":[{"hello":1}]}')).toBeDefined();
  });
});
