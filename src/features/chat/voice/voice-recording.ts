import * as v from "valibot";
import { inCall } from "#calls/call-state.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { MediaType } from "#contract/files.ts";
import type { ConversationId } from "#contract/ids.ts";
import { voiceMinMs } from "#contract/limits.ts";
import { pauseVoice } from "#features/chat/attachments/voice-player.ts";
import { isComposerCovered } from "#features/chat/composer/composer-overlay.ts";
import { type TextKey, t } from "#i18n/setup.ts";
import { Observable } from "#lib/browser/observable.ts";
import { MicrophoneRefusal, type VoiceProgress, VoiceRecorder } from "#lib/media/voice-recorder.ts";
import { waveformOf } from "#lib/media/waveform.ts";
import { withDuration } from "#lib/media/webm-duration.ts";
import { dropRecording, findRecording, keepRecording, SyncError, sendFiles } from "#sync/actions.ts";
import { holdLock, isFree } from "./recording-lock.ts";

export type VoiceState =
  | { phase: "opening" }
  | { phase: "recording"; ms: number; level: number }
  /**
   * Recorded, and neither sent nor thrown away; `isCut` by a call or by what hid it, so that it may be half of it, and
   * `isGivenUp` while its author is asked whether it is to go.
   */
  | { phase: "kept"; ms: number; audio: Blob; isCut: boolean; isGivenUp: boolean }
  | { phase: "sending" }
  | { phase: "over" };

const refusalTexts = {
  denied: "chat.voice.denied",
  absent: "chat.voice.absent",
  unsupported: "chat.voice.unsupported",
} as const satisfies Record<MicrophoneRefusal["code"], TextKey>;

const askedFromMs = 10_000; // what took this long to say is not thrown away by one touch

const complain = (key: TextKey): void => showToast({ tone: "danger", title: t("common.error"), message: t(key) });
const hint = (): void => showToast({ message: t("chat.voice.hint") });

/** `2026-11-21 14.05.07`: when it was spoken, by this phone's clock. */
const nameOf = (startedAt: number, mime: string): string => {
  const local = new Date(startedAt - new Date(startedAt).getTimezoneOffset() * 60_000).toISOString();
  return `voice ${local.slice(0, 19).replace("T", " ").replaceAll(":", ".")}.${mime.replace("audio/", "")}`;
};

/**
 * One voice message from the first touch to its being sent or thrown away. Every second of it is kept on the
 * phone while it is spoken; whatever ends it besides its author leaves it there.
 */
export class VoiceSession {
  readonly state = new Observable<VoiceState>({ phase: "opening" });
  readonly #conversation: ConversationId;
  #startedAt = Date.now();
  #recorder: VoiceRecorder | undefined;
  #chunks: Blob[] = [];
  #progress: VoiceProgress = { mime: "audio/webm", ms: 0, levels: [] };
  #lastWrite: Promise<void> = Promise.resolve();
  #isWanted = true;
  #isCut = false;
  #release = () => {};

  private constructor(conversation: ConversationId) {
    this.#conversation = conversation;
  }

  static begin(conversation: ConversationId): VoiceSession {
    const session = new VoiceSession(conversation);
    void session.#begin();
    return session;
  }

  /** What an earlier visit left, when there is something and nobody is recording it now. */
  static async find(conversation: ConversationId): Promise<VoiceSession | undefined> {
    if (!(await isFree(conversation))) return undefined;
    const kept = await findRecording(conversation);
    if (!kept || kept.chunks.length === 0) return undefined;
    const session = new VoiceSession(conversation);
    session.#startedAt = kept.startedAt;
    session.#chunks = kept.chunks;
    session.#progress = { mime: kept.mime, ms: Math.max(1, kept.ms), levels: kept.levels };
    session.#showKept();
    return session;
  }

  async #begin(): Promise<void> {
    const unlock = holdLock(this.#conversation);
    // The microphone is a call's from then on, and nobody in it is to be recorded.
    const ignoreCalls = inCall.subscribe(() => inCall.get() && this.#cut("chat.voice.cut"));
    // Nobody is to be recorded by what they cannot see.
    const ignoreCovers = isComposerCovered.subscribe(() => isComposerCovered.get() && this.#cut("chat.voice.covered"));
    this.#release = () => {
      ignoreCalls();
      ignoreCovers();
      unlock();
    };
    pauseVoice(); // what sounds now would be heard in it
    try {
      const recorder = await VoiceRecorder.start({
        onChunk: (chunk, progress) => this.#keepChunk(chunk, progress),
        onTick: (ms, level) => {
          if (this.state.get().phase !== "over") this.state.set({ phase: "recording", ms, level });
        },
        onEnd: (why) => this.#onEnd(why),
      });
      this.#recorder = recorder;
      if (!this.#isWanted) return void recorder.stop();
      this.#startedAt = Date.now();
      this.state.set({ phase: "recording", ms: 0, level: 0 });
    } catch (error) {
      if (this.#isWanted) complain(refusalTexts[error instanceof MicrophoneRefusal ? error.code : "absent"]);
      this.#end();
    }
  }

  #keepChunk(chunk: Blob, progress: VoiceProgress): void {
    this.#progress = progress;
    if (!this.#isWanted) return;
    this.#chunks.push(chunk);
    const write = () => keepRecording(this.#conversation, this.#startedAt, chunk, progress);
    // A phone without room: what is spoken stays in memory, and sending it says what is wrong.
    this.#lastWrite = this.#lastWrite.then(write).catch((error) => console.warn("recording not kept", error));
  }

  #onEnd(why: "full" | "lost"): void {
    if (why === "full") {
      showToast({ message: t("chat.voice.full") });
      void this.send();
    } else if (this.#isWanted) {
      complain("chat.voice.lost");
      void this.keep();
    }
  }

  /** Something else ends it: `why` is said to whoever was speaking. */
  #cut(why: TextKey): void {
    const { phase } = this.state.get();
    if (phase !== "opening" && phase !== "recording") return;
    this.#isCut = true;
    if (phase === "recording") showToast({ message: t(why) });
    void this.keep();
  }

  async #stop(): Promise<void> {
    await this.#recorder?.stop();
    await this.#lastWrite;
    if (this.#recorder) this.#progress = { ...this.#progress, ms: Math.max(1, this.#recorder.progress.ms) };
  }

  /** Its author wants it no more. A long one ends, is kept, and goes only when that is said again. */
  async giveUp(): Promise<void> {
    const before = this.state.get();
    if (!("ms" in before) || before.ms < askedFromMs) return this.discard();
    if (before.phase === "recording") await this.keep();
    const kept = this.state.get();
    if (kept.phase === "kept") this.state.set({ ...kept, isGivenUp: true });
  }

  /** It was not meant so. */
  takeBack(): void {
    const kept = this.state.get();
    if (kept.phase === "kept") this.state.set({ ...kept, isGivenUp: false });
  }

  /** The end of it is also the end of what was kept. */
  async discard(): Promise<void> {
    this.#isWanted = false;
    this.#end();
    await this.#stop();
    await dropRecording(this.#conversation, this.#startedAt).catch((error) =>
      console.warn("recording not dropped", error),
    );
  }

  /** Ends the recording and keeps it for later. */
  async keep(): Promise<void> {
    // While the microphone is still being asked for there is nothing to keep, and nobody is recorded unawares after it.
    if (this.state.get().phase === "opening") {
      this.#isWanted = false;
      return this.#end();
    }
    await this.#stop();
    this.#release();
    if (!this.#isWanted) return;
    if (this.#chunks.length === 0) this.#end();
    else this.#showKept();
  }

  /** What was recorded, to be had outside of here. */
  async file(): Promise<File> {
    const { mime, ms } = this.#progress;
    const audio = await withDuration(new Blob(this.#chunks, { type: mime }), ms);
    return new File([audio], nameOf(this.#startedAt, mime), { type: mime });
  }

  /** Resolves when it is in the outbox, or kept because it could not be. A slip of the finger is not sent. */
  async send(): Promise<void> {
    const before = this.state.get();
    if (before.phase === "sending" || before.phase === "over") return;
    await this.#stop();
    const { mime, ms, levels } = this.#progress;
    if (before.phase !== "kept" && (this.#chunks.length === 0 || ms < voiceMinMs)) {
      hint();
      return this.discard();
    }
    this.state.set({ phase: "sending" });
    const blob = await withDuration(new Blob(this.#chunks, { type: mime }), ms);
    const name = nameOf(this.#startedAt, mime);
    try {
      const type = v.parse(MediaType, mime);
      const body = { type: "voice" as const, name, mime: type, size: blob.size, ms, waveform: waveformOf(levels) };
      await sendFiles(this.#conversation, [{ blob, body }]);
    } catch (error) {
      const isFull = error instanceof SyncError && error.code === "no_room";
      if (isFull) showToast({ tone: "danger", title: t("chat.attach.noRoomTitle"), message: t("chat.attach.noRoom") });
      else complain("chat.sendFailed");
      this.#release();
      this.#showKept();
      return;
    }
    await this.discard();
  }

  #showKept(): void {
    const { mime, ms } = this.#progress;
    const audio = new Blob(this.#chunks, { type: mime });
    this.state.set({ phase: "kept", ms, audio, isCut: this.#isCut, isGivenUp: false });
  }

  #end(): void {
    this.#release();
    this.state.set({ phase: "over" });
  }
}
