import { audioTypes } from "#contract/files.ts";
import { voiceBitsPerSecond, voiceMaxMs } from "#contract/limits/files.ts";
import { trackRecording } from "./recording-count.ts";
import { LevelTrack, toLoudness } from "./waveform.ts";

/** Opus in WebM (SPEC.md §2); the others are for browsers that cannot record it. */
const recordingFormats = ["audio/webm;codecs=opus", "audio/webm", "audio/ogg;codecs=opus", "audio/mp4"];
const chunkMs = 1_000; // maximum loss if the page is closed
const tickMs = 100;
const meterSamples = 2_048;

export type VoiceProgress = { mime: string; ms: number; levels: number[] };

/** Reason why a recording cannot start. */
export class MicrophoneError extends Error {
  constructor(readonly code: "denied" | "absent" | "unsupported") {
    super(code);
    this.name = "MicrophoneRefusal";
  }
}

type VoiceRecorderOptions = {
  /** Called every second, and once more at the end. */
  onChunk(chunk: Blob, progress: VoiceProgress): void;
  /** Called ten times a second; `level` is between 0 and 1. */
  onTick(ms: number, level: number): void;
  /**
   * Called when the recording ended by itself: it reached the maximum length, or the microphone was lost. The recorded
   * part is kept.
   */
  onEnd(why: "full" | "lost"): void;
};

const pickRecordingFormat = (): string => {
  const isSupported = typeof MediaRecorder !== "undefined" && "mediaDevices" in navigator;
  const container = isSupported && recordingFormats.find((type) => MediaRecorder.isTypeSupported(type));
  if (!container) throw new MicrophoneError("unsupported");
  return container;
};

const openMicrophone = async (): Promise<MediaStream> => {
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 },
    });
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    throw new MicrophoneError(name === "NotAllowedError" || name === "SecurityError" ? "denied" : "absent");
  }
};

/** Loudness of the microphone; without Web Audio the recording continues without a waveform. */
class LevelMeter {
  readonly #samples = new Float32Array(meterSamples);
  #audio: AudioContext | undefined;
  #analyser: AnalyserNode | undefined;

  constructor(stream: MediaStream) {
    try {
      this.#audio = new AudioContext();
      this.#analyser = new AnalyserNode(this.#audio, { fftSize: meterSamples });
      this.#audio.createMediaStreamSource(stream).connect(this.#analyser);
      void this.#audio.resume();
    } catch (error) {
      console.warn("no level meter", error);
    }
  }

  read(): number {
    if (!this.#analyser) return 0;
    this.#analyser.getFloatTimeDomainData(this.#samples);
    let sum = 0;
    for (const sample of this.#samples) sum += sample * sample;
    return toLoudness(Math.sqrt(sum / meterSamples));
  }

  close(): void {
    void this.#audio?.close();
    this.#audio = undefined;
    this.#analyser = undefined;
  }
}

/** Microphone recording that emits chunks while it grows. */
export class VoiceRecorder {
  readonly #options: VoiceRecorderOptions;
  readonly #recorder: MediaRecorder;
  readonly #stream: MediaStream;
  readonly #meter: LevelMeter;
  readonly #levelTrack = new LevelTrack();
  readonly #startedMs = performance.now();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #stopped: Promise<void>;
  readonly #releaseRecording: () => void;
  #ms = 0;
  #isStopping = false;

  private constructor(stream: MediaStream, container: string, options: VoiceRecorderOptions) {
    this.#options = options;
    this.#stream = stream;
    this.#meter = new LevelMeter(stream);
    this.#recorder = new MediaRecorder(stream, { mimeType: container, audioBitsPerSecond: voiceBitsPerSecond });
    this.#recorder.ondataavailable = ({ data }) => {
      if (data.size > 0) options.onChunk(data, this.progress);
    };
    this.#stopped = new Promise((resolve) => {
      this.#recorder.onstop = () => {
        const isDeliberate = this.#isStopping;
        this.#release();
        resolve();
        if (!isDeliberate) options.onEnd("lost");
      };
    });
    this.#timer = setInterval(() => this.#tick(), tickMs);
    document.addEventListener("visibilitychange", this.#onHidden);
    this.#recorder.start(chunkMs);
    this.#releaseRecording = trackRecording();
  }

  /** Opens the microphone and starts recording. Throws `MicrophoneError`. */
  static async start(options: VoiceRecorderOptions): Promise<VoiceRecorder> {
    const container = pickRecordingFormat();
    const stream = await openMicrophone();
    try {
      return new VoiceRecorder(stream, container, options);
    } catch {
      for (const track of stream.getTracks()) track.stop();
      throw new MicrophoneError("unsupported");
    }
  }

  get progress(): VoiceProgress {
    const mime = audioTypes.find((type) => this.#recorder.mimeType.startsWith(type)) ?? "audio/webm";
    return { mime, ms: Math.round(this.#ms), levels: this.#levelTrack.levels };
  }

  /** Resolves after the last chunk was emitted and the microphone was released. */
  stop(): Promise<void> {
    if (!this.#isStopping && this.#recorder.state !== "inactive") {
      this.#isStopping = true;
      this.#sampleLevel();
      this.#recorder.stop();
    }
    return this.#stopped;
  }

  /** A phone may discard an invisible page at any moment. */
  readonly #onHidden = (): void => {
    if (document.visibilityState === "hidden" && this.#recorder.state === "recording") this.#recorder.requestData();
  };

  #sampleLevel(): number {
    const level = this.#meter.read();
    this.#ms = Math.min(voiceMaxMs, Math.max(1, performance.now() - this.#startedMs));
    this.#levelTrack.record(this.#ms, level);
    return level;
  }

  #tick(): void {
    if (this.#isStopping) return;
    const level = this.#sampleLevel();
    this.#options.onTick(this.#ms, level);
    if (this.#ms >= voiceMaxMs) void this.stop().then(() => this.#options.onEnd("full"));
  }

  #release(): void {
    clearInterval(this.#timer);
    document.removeEventListener("visibilitychange", this.#onHidden);
    this.#meter.close();
    this.#releaseRecording();
    for (const track of this.#stream.getTracks()) track.stop();
  }
}
