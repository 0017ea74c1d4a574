/** Offset of the samples, two bytes each. */
export const wavHeaderBytes = 44;

/**
 * Silent mono WAV of 16 bits (RFC 2361) to be filled with samples.
 * @param {number} samplesPerSecond
 * @param {number} samples
 */
export function makeWav(samplesPerSecond, samples) {
  const wav = Buffer.alloc(wavHeaderBytes + samples * 2);
  wav.write("RIFF", 0, "latin1");
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.write("WAVEfmt ", 8, "latin1");
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20); // PCM
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(samplesPerSecond, 24);
  wav.writeUInt32LE(samplesPerSecond * 2, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write("data", 36, "latin1");
  wav.writeUInt32LE(samples * 2, 40);
  return wav;
}
