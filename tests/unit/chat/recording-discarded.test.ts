import { afterEach, describe, expect, it, vi } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { VoiceRecording } from "#features/chat/voice/voice-recording.ts";
import { VoiceRecorder } from "#lib/media/voice-recorder.ts";
import { eventually } from "#tests/support/eventually.ts";

const at = (ms: number) => ({ mime: "audio/webm", ms, levels: [0.5] });

/** A recording of this duration. */
const record = async (ms: number) => {
  const stop = vi.fn(async () => {});
  const speak: (() => void)[] = [];
  vi.spyOn(VoiceRecorder, "start").mockImplementation(async ({ onChunk, onTick }) => {
    speak.push(() => {
      onTick(ms, 0.5);
      onChunk(new Blob(["words"]), at(ms));
    });
    return { stop, progress: at(ms) } as unknown as VoiceRecorder;
  });
  const session = VoiceRecording.start(privateConversationId(createUuid(), createUuid()));
  await eventually(() => expect(session.state.get()).toMatchObject({ phase: "recording" }));
  speak[0]?.();
  return { session, stop };
};

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a recording that its author cancels", () => {
  it("is discarded at once if it is short", async () => {
    const { session, stop } = await record(9_000);
    await session.requestDiscard();
    expect(session.state.get()).toEqual({ phase: "ended" });
    expect(stop).toHaveBeenCalledOnce();
  });

  it("is stopped but kept whole if it is long, until the author confirms", async () => {
    const { session, stop } = await record(12_000);
    await session.requestDiscard();
    expect(stop).toHaveBeenCalledOnce();
    expect(session.state.get()).toMatchObject({ phase: "saved", ms: 12_000, isDiscardRequested: true });
    session.cancelDiscard();
    expect(session.state.get()).toMatchObject({ phase: "saved", ms: 12_000, isDiscardRequested: false });
    expect((await session.toFile()).size).toBeGreaterThanOrEqual("words".length);
    await session.requestDiscard();
    expect(session.state.get()).toMatchObject({ phase: "saved", isDiscardRequested: true });
    await session.discard();
    expect(session.state.get()).toEqual({ phase: "ended" });
  });
});
