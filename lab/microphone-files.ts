import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeSpeech } from "#bench/fixtures/speech.ts";
import { wavHeaderBytes } from "#scripts/wav.mjs";
import { makeFolder, removeFolder } from "./folder.ts";

const bytesPerSecond = 96_000; // 48 kHz, 16 bits
const breathAfterSeconds = 2.25; // nine syllables of four a second
const turnSeconds = 7;

/** The beginning of a talk, and silence after it; a browser plays it again and again. */
function makeSpeechFile(seconds: number, silentSeconds: number): Buffer {
  const speech = makeSpeech().subarray(0, wavHeaderBytes + seconds * bytesPerSecond);
  const wav = Buffer.concat([speech, Buffer.alloc(silentSeconds * bytesPerSecond)]);
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.writeUInt32LE(wav.length - wavHeaderBytes, wavHeaderBytes - 4);
  return wav;
}

export type MicrophoneFiles = { always: string; half: string; remove(): void };

/**
 * Files for a browser's make-believe microphone: somebody who talks without a breath, so that the first sound is heard
 * when it comes, and somebody who talks for seven seconds and listens for as long, which is half of a conversation.
 */
export function makeMicrophoneFiles(): MicrophoneFiles {
  const folder = makeFolder();
  const [always, half] = [join(folder, "always.wav"), join(folder, "half.wav")];
  writeFileSync(always, makeSpeechFile(breathAfterSeconds, 0));
  writeFileSync(half, makeSpeechFile(turnSeconds, turnSeconds));
  return { always, half, remove: () => removeFolder(folder) };
}
