import { afterEach, beforeEach, expect, test, vi } from "vitest";

/** Counts the sounding oscillators. Without a user gesture the page keeps audio suspended. */
class FakeAudio extends EventTarget {
  static isAllowed = true;
  static made: FakeAudio[] = [];
  state = "suspended";
  currentTime = 0;
  destination = {};
  started = 0;
  outputs = new Set<object>();

  constructor() {
    super();
    FakeAudio.made.push(this);
  }

  async resume() {
    if (!FakeAudio.isAllowed || this.state === "running") return;
    this.state = "running";
    this.dispatchEvent(new Event("statechange"));
  }

  async suspend() {
    this.state = "suspended";
  }

  createGain() {
    const node = {
      gain: { value: 1, setValueAtTime: () => {}, linearRampToValueAtTime: () => {} },
      connect: (to: object) => {
        if (to === this.destination) this.outputs.add(node);
        return to;
      },
      disconnect: () => this.outputs.delete(node),
    };
    return node;
  }

  createOscillator() {
    return {
      frequency: { value: 0 },
      connect: (to: object) => to,
      start: () => {
        this.started++;
      },
      stop: () => {},
    };
  }
}

const load = async () => (await import("#calls/tones/tones.ts")).playTone;
const sounding = () => FakeAudio.made[0]?.started ?? 0;
const outputs = () => FakeAudio.made[0]?.outputs.size ?? 0;

beforeEach(() => {
  vi.resetModules();
  vi.useFakeTimers();
  FakeAudio.isAllowed = true;
  FakeAudio.made = [];
  const page = new EventTarget();
  vi.stubGlobal("AudioContext", FakeAudio);
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  vi.stubGlobal("removeEventListener", page.removeEventListener.bind(page));
  vi.stubGlobal("dispatchEvent", page.dispatchEvent.bind(page));
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("a tone replaces the one before, and silence ends it", async () => {
  const playTone = await load();
  playTone("ringback");
  await vi.advanceTimersByTimeAsync(11_000);
  expect(sounding()).toBe(3);
  playTone("ringtone");
  await vi.advanceTimersByTimeAsync(100);
  expect(outputs()).toBe(1);
  playTone("none");
  const after = sounding();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sounding()).toBe(after);
  expect(outputs()).toBe(0);
  expect(FakeAudio.made[0]?.state).toBe("suspended");
  expect(vi.getTimerCount()).toBe(0);
});

test("the busy tone ends by itself", async () => {
  const playTone = await load();
  playTone("busy");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sounding()).toBe(4);
  expect(FakeAudio.made[0]?.state).toBe("suspended");
});

test("without a user gesture a tone sounds from the first gesture on, without replaying the missed part", async () => {
  const playTone = await load();
  FakeAudio.isAllowed = false;
  playTone("ringback");
  await vi.advanceTimersByTimeAsync(20_000);
  expect(sounding()).toBe(0);
  FakeAudio.isAllowed = true;
  dispatchEvent(new Event("pointerup"));
  await vi.advanceTimersByTimeAsync(100);
  expect(sounding()).toBe(1);
  playTone("none");
  dispatchEvent(new Event("pointerup"));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(sounding()).toBe(1);
});

test("the phone vibrates with the ringtone only, and no longer than it", async () => {
  const trembled: unknown[] = [];
  vi.stubGlobal("navigator", {
    vibrate: (pattern: unknown) => trembled.push(pattern),
    userActivation: { hasBeenActive: true },
  });
  const playTone = await load();
  playTone("ringback");
  playTone("none");
  expect(trembled).toEqual([]);
  playTone("ringtone");
  await vi.advanceTimersByTimeAsync(3_100);
  expect(trembled).toHaveLength(2);
  playTone("none");
  expect(trembled.at(-1)).toBe(0);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(trembled).toHaveLength(3);
});

test("with call sounds off the phone vibrates and nothing sounds", async () => {
  const trembled: unknown[] = [];
  vi.stubGlobal("navigator", { vibrate: (pattern: unknown) => trembled.push(pattern) });
  const playTone = await load();
  playTone("vibrate");
  await vi.advanceTimersByTimeAsync(3_100);
  expect(trembled).toHaveLength(2);
  expect(FakeAudio.made).toEqual([]);
  playTone("none");
  expect(trembled.at(-1)).toBe(0);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(trembled).toHaveLength(3);
});
