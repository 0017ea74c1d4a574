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
import { MicrophoneError, type VoiceProgress, VoiceRecorder } from "#lib/media/voice-recorder.ts";
import { toWaveform } from "#lib/media/waveform.ts";
import { addWebmDuration } from "#lib/media/webm-duration.ts";
import { deleteRecording, findRecording, SyncError, saveRecordingChunk, sendFiles } from "#sync/actions.ts";
import { acquireRecordingLock, waitForRecordingLock } from "./recording-lock.ts";

export type RecordingState =
  | { phase: "opening" }
  | { phase: "recording"; ms: number; level: number }
  /**
   * Recorded, and neither sent nor thrown away; `isCut` by a call or by what hid it, so that it may be half of it, and
   * `isGivenUp` while its author is asked whether it is to go.
   */
  | { phase: "kept"; ms: number; audio: Blob; isInterrupted: boolean; isDiscardRequested: boolean }
  | { phase: "sending" }
  | { phase: "over" };

const microphoneErrorTexts = {
  denied: "chat.voice.denied",
  absent: "chat.voice.absent",
  unsupported: "chat.voice.unsupported",
} as const satisfies Record<MicrophoneError["code"], TextKey>;

const confirmDiscardFromMs = 10_000; // what took this long to say is not thrown away by one touch

const showRecordingError = (key: TextKey): void =>
  showToast({ tone: "danger", title: t("common.error"), message: t(key) });
const showHoldHint = (): void => showToast({ message: t("chat.voice.hint") });

/** `2026-11-21 14.05.07`: when it was spoken, by this phone's clock. */
const toRecordingFileName = (startedAt: number, mime: string): string => {
  const local = new Date(startedAt - new Date(startedAt).getTimezoneOffset() * 60_000).toISOString();
  return `voice ${local.slice(0, 19).replace("T", " ").replaceAll(":", ".")}.${mime.replace("audio/", "")}`;
};

/**
 * One voice message from the first touch to its being sent or thrown away. Every second of it is kept on the
 * phone while it is spoken; whatever ends it besides its author leaves it there.
 */
export class VoiceRecording {
  readonly state = new Observable<RecordingState>({ phase: "opening" });
  readonly #conversation: ConversationId;
  #startedAt = Date.now();
  #recorder: VoiceRecorder | undefined;
  #chunks: Blob[] = [];
  #progress: VoiceProgress = { mime: "audio/webm", ms: 0, levels: [] };
  #pendingWrite: Promise<void> = Promise.resolve();
  #isKept = true;
  #isInterrupted = false;
  #release = () => {};

  private constructor(conversation: ConversationId) {
    this.#conversation = conversation;
  }

  static start(conversation: ConversationId): VoiceRecording {
    const session = new VoiceRecording(conversation);
    void session.#openMicrophone();
    return session;
  }

  /** What an earlier visit left, when there is something and nobody is recording it now. */
  static async findSaved(conversation: ConversationId): Promise<VoiceRecording | undefined> {
    if (!(await waitForRecordingLock(conversation))) return undefined;
    const kept = await findRecording(conversation);
    if (!kept || kept.chunks.length === 0) return undefined;
    const session = new VoiceRecording(conversation);
    session.#startedAt = kept.startedAt;
    session.#chunks = kept.chunks;
    session.#progress = { mime: kept.mime, ms: Math.max(1, kept.ms), levels: kept.levels };
    session.#setSavedState();
    return session;
  }

  async #openMicrophone(): Promise<void> {
    const unlock = acquireRecordingLock(this.#conversation);
    // The microphone is a call's from then on, and nobody in it is to be recorded.
    const ignoreCalls = inCall.subscribe(() => inCall.get() && this.#interrupt("chat.voice.cut"));
    // Nobody is to be recorded by what they cannot see.
    const ignoreCovers = isComposerCovered.subscribe(
      () => isComposerCovered.get() && this.#interrupt("chat.voice.covered"),
    );
    this.#release = () => {
      ignoreCalls();
      ignoreCovers();
      unlock();
    };
    pauseVoice(); // what sounds now would be heard in it
    try {
      const recorder = await VoiceRecorder.start({
        onChunk: (chunk, progress) => this.#saveChunk(chunk, progress),
        onTick: (ms, level) => {
          if (this.state.get().phase !== "over") this.state.set({ phase: "recording", ms, level });
        },
        onEnd: (why) => this.#handleRecorderEnd(why),
      });
      this.#recorder = recorder;
      if (!this.#isKept) return void recorder.stop();
      this.#startedAt = Date.now();
      this.state.set({ phase: "recording", ms: 0, level: 0 });
    } catch (error) {
      if (this.#isKept)
        showRecordingError(microphoneErrorTexts[error instanceof MicrophoneError ? error.code : "absent"]);
      this.#finish();
    }
  }

  #saveChunk(chunk: Blob, progress: VoiceProgress): void {
    this.#progress = progress;
    if (!this.#isKept) return;
    this.#chunks.push(chunk);
    const write = () => saveRecordingChunk(this.#conversation, this.#startedAt, chunk, progress);
    // A phone without room: what is spoken stays in memory, and sending it says what is wrong.
    this.#pendingWrite = this.#pendingWrite.then(write).catch((error) => console.warn("recording not kept", error));
  }

  #handleRecorderEnd(why: "full" | "lost"): void {
    if (why === "full") {
      showToast({ message: t("chat.voice.full") });
      void this.send();
    } else if (this.#isKept) {
      showRecordingError("chat.voice.lost");
      void this.stopAndSave();
    }
  }

  /** Something else ends it: `why` is said to whoever was speaking. */
  #interrupt(why: TextKey): void {
    const { phase } = this.state.get();
    if (phase !== "opening" && phase !== "recording") return;
    this.#isInterrupted = true;
    if (phase === "recording") showToast({ message: t(why) });
    void this.stopAndSave();
  }

  async #stopRecorder(): Promise<void> {
    await this.#recorder?.stop();
    await this.#pendingWrite;
    if (this.#recorder) this.#progress = { ...this.#progress, ms: Math.max(1, this.#recorder.progress.ms) };
  }

  /** Its author wants it no more. A long one ends, is kept, and goes only when that is said again. */
  async requestDiscard(): Promise<void> {
    const before = this.state.get();
    if (!("ms" in before) || before.ms < confirmDiscardFromMs) return this.discard();
    if (before.phase === "recording") await this.stopAndSave();
    const kept = this.state.get();
    if (kept.phase === "kept") this.state.set({ ...kept, isDiscardRequested: true });
  }

  /** It was not meant so. */
  cancelDiscard(): void {
    const kept = this.state.get();
    if (kept.phase === "kept") this.state.set({ ...kept, isDiscardRequested: false });
  }

  /** The end of it is also the end of what was kept. */
  async discard(): Promise<void> {
    this.#isKept = false;
    this.#finish();
    await this.#stopRecorder();
    await deleteRecording(this.#conversation, this.#startedAt).catch((error) =>
      console.warn("recording not dropped", error),
    );
  }

  /** Ends the recording and keeps it for later. */
  async stopAndSave(): Promise<void> {
    // While the microphone is still being asked for there is nothing to keep, and nobody is recorded unawares after it.
    if (this.state.get().phase === "opening") {
      this.#isKept = false;
      return this.#finish();
    }
    await this.#stopRecorder();
    this.#release();
    if (!this.#isKept) return;
    if (this.#chunks.length === 0) this.#finish();
    else this.#setSavedState();
  }

  /** What was recorded, to be had outside of here. */
  async toFile(): Promise<File> {
    const { mime, ms } = this.#progress;
    const audio = await addWebmDuration(new Blob(this.#chunks, { type: mime }), ms);
    return new File([audio], toRecordingFileName(this.#startedAt, mime), { type: mime });
  }

  /** Resolves when it is in the outbox, or kept because it could not be. A slip of the finger is not sent. */
  async send(): Promise<void> {
    const before = this.state.get();
    if (before.phase === "sending" || before.phase === "over") return;
    await this.#stopRecorder();
    const { mime, ms, levels } = this.#progress;
    if (before.phase !== "kept" && (this.#chunks.length === 0 || ms < voiceMinMs)) {
      showHoldHint();
      return this.discard();
    }
    this.state.set({ phase: "sending" });
    const blob = await addWebmDuration(new Blob(this.#chunks, { type: mime }), ms);
    const name = toRecordingFileName(this.#startedAt, mime);
    try {
      const type = v.parse(MediaType, mime);
      const body = { type: "voice" as const, name, mime: type, size: blob.size, ms, waveform: toWaveform(levels) };
      await sendFiles(this.#conversation, [{ blob, body }]);
    } catch (error) {
      const isFull = error instanceof SyncError && error.code === "no_room";
      if (isFull) showToast({ tone: "danger", title: t("chat.attach.noRoomTitle"), message: t("chat.attach.noRoom") });
      else showRecordingError("chat.sendFailed");
      this.#release();
      this.#setSavedState();
      return;
    }
    await this.discard();
  }

  #setSavedState(): void {
    const { mime, ms } = this.#progress;
    const audio = new Blob(this.#chunks, { type: mime });
    this.state.set({ phase: "kept", ms, audio, isInterrupted: this.#isInterrupted, isDiscardRequested: false });
  }

  #finish(): void {
    this.#release();
    this.state.set({ phase: "over" });
  }
}
