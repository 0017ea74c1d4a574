import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeSpeech } from "#bench/fixtures/speech.ts";
import { wavHeaderBytes } from "#scripts/wav.mjs";
import { makeFolder, removeFolder } from "./folder.ts";

const bytesPerSecond = 96_000; // 48 kHz, 16 bits
const breathAfterSeconds = 2.25; // nine syllables at four per second
const turnSeconds = 7;

/** Speech followed by silence; the browser loops it. */
function makeSpeechFile(seconds: number, silentSeconds: number): Buffer {
  const speech = makeSpeech().subarray(0, wavHeaderBytes + seconds * bytesPerSecond);
  const wav = Buffer.concat([speech, Buffer.alloc(silentSeconds * bytesPerSecond)]);
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.writeUInt32LE(wav.length - wavHeaderBytes, wavHeaderBytes - 4);
  return wav;
}

export type MicrophoneFiles = { always: string; half: string; remove(): void };

/**
 * Files for the browser's fake microphone: one with continuous speech, so that the first sound is detected immediately,
 * and one with seven seconds of speech and seven of silence, which is half of a conversation.
 */
export function makeMicrophoneFiles(): MicrophoneFiles {
  const folder = makeFolder();
  const [always, half] = [join(folder, "always.wav"), join(folder, "half.wav")];
  writeFileSync(always, makeSpeechFile(breathAfterSeconds, 0));
  writeFileSync(half, makeSpeechFile(turnSeconds, turnSeconds));
  return { always, half, remove: () => removeFolder(folder) };
}
