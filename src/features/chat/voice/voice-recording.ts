import * as v from "valibot";
import { inCall } from "#calls/call-state.ts";
import { composerCover } from "#components/overlays/cover.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { MediaType } from "#contract/files.ts";
import type { ConversationId } from "#contract/ids.ts";
import { voiceMinMs } from "#contract/limits/files.ts";
import { pauseVoice } from "#features/chat/attachments/voice-player.ts";
import { type TextKey, t } from "#i18n/setup.ts";
import { Observable } from "#lib/browser/observable.ts";
import { MicrophoneError, type VoiceProgress, VoiceRecorder } from "#lib/media/voice-recorder.ts";
import { toWaveform } from "#lib/media/waveform.ts";
import { addWebmDuration } from "#lib/media/webm-duration.ts";
import { sendFiles } from "#sync/actions/message-actions.ts";
import { deleteRecordingDraft } from "#sync/drafts/delete-drafts.ts";
import { acquireRecordingLock, appendRecordingChunk, findRecordingDraft } from "#sync/drafts/voice-drafts.ts";
import { currentEngine, getEngine } from "#sync/engine/engine.ts";
import { SyncError } from "#sync/platform/sync-error.ts";

export type RecordingState =
  | { phase: "opening" }
  | { phase: "recording"; ms: number; level: number }
  /**
   * Stopped, and neither sent nor discarded. `isInterrupted`: a call or an overlay stopped it, so it may be incomplete.
   * `isDiscardRequested`: the user is asked to confirm discarding it.
   */
  | { phase: "saved"; ms: number; audio: Blob; isInterrupted: boolean; isDiscardRequested: boolean }
  | { phase: "sending" }
  | { phase: "ended" };

const microphoneErrorTexts = {
  denied: "chat.voice.denied",
  absent: "chat.voice.absent",
  unsupported: "chat.voice.unsupported",
} as const satisfies Record<MicrophoneError["code"], TextKey>;

const confirmDiscardFromMs = 10_000; // longer recordings are discarded only after a confirmation

const showRecordingError = (key: TextKey): void =>
  showToast({ tone: "danger", title: t("common.error"), message: t(key) });
const showHoldHint = (): void => showToast({ message: t("chat.voice.hint") });

/** File name with the local start time, e.g. `voice 2026-11-21 14.05.07.webm`. */
const toRecordingFileName = (startedAt: number, mime: string): string => {
  const local = new Date(startedAt - new Date(startedAt).getTimezoneOffset() * 60_000).toISOString();
  return `voice ${local.slice(0, 19).replace("T", " ").replaceAll(":", ".")}.${mime.replace("audio/", "")}`;
};

/**
 * One voice message from the start of its recording until it is sent or discarded. Every second of audio is saved on
 * the device while recording, and stays there if the recording ends without a decision of the user.
 */
export class VoiceRecording {
  readonly state = new Observable<RecordingState>({ phase: "opening" });
  readonly #conversation: ConversationId;
  #startedAt = Date.now();
  #recorder: VoiceRecorder | undefined;
  #chunks: Blob[] = [];
  #progress: VoiceProgress = { mime: "audio/webm", ms: 0, levels: [] };
  #pendingWrite: Promise<void> = Promise.resolve();
  #isDiscarded = false;
  #isInterrupted = false;
  #isNotKept = false;
  #release = () => {};

  private constructor(conversation: ConversationId) {
    this.#conversation = conversation;
  }

  static start(conversation: ConversationId): VoiceRecording {
    const recording = new VoiceRecording(conversation);
    void recording.#openMicrophone();
    return recording;
  }

  /**
   * Recording saved by an earlier visit, the first one or the one with this start; undefined if there is none or
   * another tab is still recording it.
   */
  static async findSaved(conversation: ConversationId, startedAt?: number): Promise<VoiceRecording | undefined> {
    const saved = await findRecordingDraft(getEngine().client, conversation, startedAt);
    if (!saved || saved.chunks.length === 0) return undefined;
    const recording = new VoiceRecording(conversation);
    recording.#startedAt = saved.startedAt;
    recording.#chunks = saved.chunks;
    recording.#progress = { mime: saved.mime, ms: Math.max(1, saved.ms), levels: saved.levels };
    recording.#setSavedState();
    return recording;
  }

  async #openMicrophone(): Promise<void> {
    // A call takes over the microphone and must not be recorded.
    const unsubscribeCalls = inCall.subscribe(() => inCall.get() && this.#interrupt("chat.voice.cut"));
    // Recording must not continue where its controls are hidden.
    const unsubscribeOverlays = composerCover.isCovered.subscribe(
      () => composerCover.isCovered.get() && this.#interrupt("chat.voice.covered"),
    );
    let lock: ReturnType<typeof acquireRecordingLock> | undefined;
    this.#release = () => {
      unsubscribeCalls();
      unsubscribeOverlays();
      void lock?.then((acquired) => acquired?.release());
    };
    pauseVoice(); // the recording would pick up the playback
    try {
      const recorder = await VoiceRecorder.start({
        onChunk: (chunk, progress) => this.#saveChunk(chunk, progress),
        onTick: (ms, level) => {
          if (this.state.get().phase !== "ended") this.state.set({ phase: "recording", ms, level });
        },
        onEnd: (reason) => this.#handleRecorderEnd(reason),
      });
      this.#recorder = recorder;
      if (this.#isDiscarded) return void recorder.stop();
      this.#startedAt = Date.now();
      const client = currentEngine.get()?.client;
      lock = client && acquireRecordingLock(client, this.#conversation, this.#startedAt);
      this.state.set({ phase: "recording", ms: 0, level: 0 });
    } catch (error) {
      if (!this.#isDiscarded)
        showRecordingError(microphoneErrorTexts[error instanceof MicrophoneError ? error.code : "absent"]);
      this.#finish();
    }
  }

  #saveChunk(chunk: Blob, progress: VoiceProgress): void {
    this.#progress = progress;
    if (this.#isDiscarded) return;
    this.#chunks.push(chunk);
    const write = () =>
      appendRecordingChunk(
        getEngine().client,
        { conversation: this.#conversation, startedAt: this.#startedAt, ...progress },
        chunk,
      );
    // Without storage the audio stays in memory only.
    this.#pendingWrite = this.#pendingWrite.then(write).catch((error) => {
      console.warn("recording chunk not saved", error);
      if (!this.#isNotKept && !this.#isDiscarded)
        showToast({ tone: "danger", title: t("common.error"), message: t("chat.notKept") });
      this.#isNotKept = true;
    });
  }

  #handleRecorderEnd(reason: "full" | "lost"): void {
    if (reason === "full") {
      showToast({ message: t("chat.voice.full") });
      void this.send();
    } else if (!this.#isDiscarded) {
      showRecordingError("chat.voice.lost");
      void this.stopAndSave();
    }
  }

  /** Stops and saves a running recording, and explains the reason in a toast. */
  #interrupt(reason: TextKey): void {
    const { phase } = this.state.get();
    if (phase !== "opening" && phase !== "recording") return;
    this.#isInterrupted = true;
    if (phase === "recording") showToast({ message: t(reason) });
    void this.stopAndSave();
  }

  async #stopRecorder(): Promise<void> {
    await this.#recorder?.stop();
    await this.#pendingWrite;
    if (this.#recorder) this.#progress = { ...this.#progress, ms: Math.max(1, this.#recorder.progress.ms) };
  }

  /** Discards a short recording at once. A long one is stopped and saved until the user confirms. */
  async requestDiscard(): Promise<void> {
    const previous = this.state.get();
    if (!("ms" in previous) || previous.ms < confirmDiscardFromMs) return this.discard();
    if (previous.phase === "recording") await this.stopAndSave();
    const saved = this.state.get();
    if (saved.phase === "saved") this.state.set({ ...saved, isDiscardRequested: true });
  }

  /** The user declined the confirmation. */
  cancelDiscard(): void {
    const saved = this.state.get();
    if (saved.phase === "saved") this.state.set({ ...saved, isDiscardRequested: false });
  }

  /** Ends the recording and deletes its saved chunks. */
  async discard(): Promise<void> {
    this.#isDiscarded = true;
    this.#finish();
    await this.#stopRecorder();
    try {
      await deleteRecordingDraft(getEngine().client, this.#conversation, this.#startedAt);
    } catch (error) {
      console.warn("recording not deleted", error);
    }
  }

  /** Stops the recording and keeps it for later. */
  async stopAndSave(): Promise<void> {
    // While the microphone is still opening there is no audio yet, and the recording must not start afterwards.
    if (this.state.get().phase === "opening") {
      this.#isDiscarded = true;
      return this.#finish();
    }
    await this.#stopRecorder();
    this.#release();
    if (this.#isDiscarded) return;
    if (this.#chunks.length === 0) this.#finish();
    else this.#setSavedState();
  }

  /** The recorded audio as a file to download. */
  async toFile(): Promise<File> {
    const { mime, ms } = this.#progress;
    const audio = await addWebmDuration(new Blob(this.#chunks, { type: mime }), ms);
    return new File([audio], toRecordingFileName(this.#startedAt, mime), { type: mime });
  }

  /**
   * Queues the recording as a message; on failure it stays saved. A recording shorter than `voiceMinMs` is discarded as
   * an accidental touch.
   */
  async send(): Promise<void> {
    const previous = this.state.get();
    if (previous.phase === "sending" || previous.phase === "ended") return;
    await this.#stopRecorder();
    const { mime, ms, levels } = this.#progress;
    if (previous.phase !== "saved" && (this.#chunks.length === 0 || ms < voiceMinMs)) {
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
      const isStorageFull = error instanceof SyncError && error.code === "no_room";
      if (isStorageFull)
        showToast({ tone: "danger", title: t("chat.attach.noRoomTitle"), message: t("chat.attach.noRoom") });
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
    this.state.set({ phase: "saved", ms, audio, isInterrupted: this.#isInterrupted, isDiscardRequested: false });
  }

  #finish(): void {
    this.#release();
    this.state.set({ phase: "ended" });
  }
}
