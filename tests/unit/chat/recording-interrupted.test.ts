import { afterEach, describe, expect, it, vi } from "vitest";
import { inCall } from "#calls/call-state.ts";
import { composerCover } from "#components/overlays/cover.ts";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { VoiceRecording } from "#features/chat/voice/voice-recording.ts";
import { t } from "#i18n/setup.ts";
import { VoiceRecorder } from "#lib/media/voice-recorder.ts";
import { eventually } from "#tests/support/eventually.ts";

const { showToast } = vi.hoisted(() => ({ showToast: vi.fn() }));
vi.mock("#components/overlays/toast.tsx", () => ({ showToast }));

const second = (n: number) => ({ mime: "audio/webm", ms: n * 1_000, levels: [0.5] });

/** A microphone that is granted on request; its recording ends when it is stopped. */
const useMicrophone = () => {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  const stop = vi.fn(async () => {});
  const spoken: ((n: number) => void)[] = [];
  vi.spyOn(VoiceRecorder, "start").mockImplementation(async ({ onChunk, onTick }) => {
    await given;
    spoken.push((n) => {
      onTick(n * 1_000, 0.5);
      onChunk(new Blob(["a second"]), second(n));
    });
    return { stop, progress: second(2) } as unknown as VoiceRecorder;
  });
  return { give, stop, speak: (n: number) => spoken[0]?.(n) };
};

const phaseOf = (session: VoiceRecording) => session.state.get().phase;

const begin = () => VoiceRecording.start(privateConversationId(createUuid(), createUuid()));

afterEach(() => {
  inCall.set(false);
  composerCover.isCovered.set(false);
  vi.restoreAllMocks();
  showToast.mockClear();
});

describe("a voice message being recorded when something covers the composer", () => {
  it("is stopped and kept for review", async () => {
    const { give, stop, speak } = useMicrophone();
    const session = begin();
    give();
    await eventually(() => expect(phaseOf(session)).toBe("recording"));
    speak(1);
    composerCover.isCovered.set(true);
    await eventually(() => expect(phaseOf(session)).toBe("saved"));
    expect(stop).toHaveBeenCalledOnce();
    expect(session.state.get()).toMatchObject({ ms: 2_000, isInterrupted: true });
  });

  it("is not started by a microphone that is granted while covered", async () => {
    const { give, stop } = useMicrophone();
    const session = begin();
    composerCover.isCovered.set(true);
    expect(phaseOf(session)).toBe("ended");
    give();
    await eventually(() => expect(stop).toHaveBeenCalledOnce());
    expect(phaseOf(session)).toBe("ended");
  });
});

describe("a voice message being recorded when a call begins", () => {
  it("is stopped and kept for review", async () => {
    const { give, stop, speak } = useMicrophone();
    const session = begin();
    give();
    await eventually(() => expect(phaseOf(session)).toBe("recording"));
    speak(1);
    inCall.set(true);
    await eventually(() => expect(phaseOf(session)).toBe("saved"));
    expect(stop).toHaveBeenCalledOnce();
    expect(session.state.get()).toMatchObject({ ms: 2_000, isInterrupted: true });
    expect((await session.toFile()).size).toBeGreaterThanOrEqual("a second".length);
  });

  it("is not started by a microphone that is granted during the call", async () => {
    const { give, stop } = useMicrophone();
    const session = begin();
    inCall.set(true);
    expect(phaseOf(session)).toBe("ended");
    give();
    await eventually(() => expect(stop).toHaveBeenCalledOnce());
    expect(phaseOf(session)).toBe("ended");
  });

  it("that its author had already stopped is kept unchanged and not marked as interrupted", async () => {
    const { give, stop, speak } = useMicrophone();
    const session = begin();
    give();
    await eventually(() => expect(phaseOf(session)).toBe("recording"));
    speak(1);
    await session.stopAndSave();
    inCall.set(true);
    expect(session.state.get()).toMatchObject({ phase: "saved", isInterrupted: false });
    expect(stop).toHaveBeenCalledOnce();
  });
});

it("a voice message that this device cannot keep is recorded all the same, and its author is told once", async () => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  const { give, speak } = useMicrophone();
  const session = begin(); // without a store
  give();
  await eventually(() => expect(phaseOf(session)).toBe("recording"));
  for (const n of [1, 2, 3]) speak(n);
  await eventually(() => expect(showToast).toHaveBeenCalled());
  await session.stopAndSave();
  expect(showToast).toHaveBeenCalledOnce();
  expect(showToast).toHaveBeenCalledWith(expect.objectContaining({ message: t("chat.notKept") }));
  expect(phaseOf(session)).toBe("saved");
});
