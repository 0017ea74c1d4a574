import { launchBrowser } from "#bench/rig/browser.ts";
import { makePair, type Pair } from "#bench/rig/person.ts";
import { buildProduct } from "#bench/rig/product.ts";
import { computeRatio, median } from "#bench/rig/statistics.ts";
import { formatKilobytes, formatMilliseconds, formatRatio, type Section } from "#bench/rig/table.ts";
import { readPath } from "#contract/files.ts";
import { imageEdgePx, voiceBitsPerSecond } from "#contract/limits/files.ts";
import { sendAttachment } from "#tests/support/people/attachments.ts";
import { startServer } from "#tests/support/server/server.ts";
import { measureFirstPicture } from "./first-picture.ts";
import { countPhoto, countVoice, type SentMedia } from "./sending-media.ts";

const voiceSeconds = 60;
const rounds = 2; // half a minute each; the link, identical in every round, dominates

/** Bytes sent for a photo and a minute of voice, and the time until the receiver sees the photo. */
export async function measureMedia(): Promise<Section[]> {
  buildProduct();
  const server = await startServer();
  // Recording takes a minute but only a hundredth of a core: other measurements run in parallel.
  const recording = countVoice(server.origin, voiceSeconds);
  recording.catch(() => {}); // reported where it is awaited
  try {
    const { photo, small, original, pair } = await countPhoto(server.origin);
    const seen = await makePair(server.origin);
    const picture = await readPicture(pair, small);
    const { name, thumb } = small.body;
    await sendAttachment({ origin: server.origin, fetch }, seen.a, seen.conversation, picture.bytes, {
      type: "image",
      name,
      thumb,
    });
    const browser = await launchBrowser();
    try {
      const showings = await measureFirstPicture(browser, server.origin, seen, picture, rounds);
      return [toBytesSection(photo, small, original, await recording), toShowingSection(showings, small, photo)];
    } finally {
      await browser.close();
    }
  } finally {
    await recording.catch(() => {});
    await server.stop();
  }
}

/** Picture as the receiver downloads it. */
async function readPicture(
  { b, conversation }: Pair,
  { body }: SentMedia<"image">,
): Promise<{ type: string; bytes: Buffer }> {
  const answer = await fetch(b.origin + readPath(conversation, body.file), {
    headers: { authorization: `Bearer ${b.token}` },
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (bytes.length !== body.size) throw new Error(`The picture could not be read: ${answer.status}`);
  return { type: body.mime, bytes };
}

function toBytesSection(
  photo: Buffer,
  small: SentMedia<"image">,
  original: SentMedia<"image">,
  voice: SentMedia<"voice">,
): Section {
  const voiceMs = voice.body.ms;
  const voiceFloor = (voiceMs / 1_000) * (voiceBitsPerSecond / 8);
  const row = (
    name: string,
    sent: Pick<SentMedia<"file">, "up" | "down" | "requests"> & { body: { size: number } },
    floor: number,
  ) => [
    name,
    formatKilobytes(sent.body.size),
    formatKilobytes(sent.up),
    `+${((100 * (sent.up - sent.body.size)) / sent.body.size).toFixed(1)} %`,
    formatRatio(sent.up / floor),
    formatKilobytes(sent.down),
    String(sent.requests),
  ];
  const { width, height } = small.body;
  return {
    title: "Bytes of a photo of 12 megapixels and of a minute of voice, from the deed to the tick",
    columns: ["", "file", "sent", "beyond the file", "to the floor", "got back", "requests"],
    rows: [
      row(`photo, shrunk to ${width} × ${height} ${small.body.mime.replace("image/", "")}`, small, photo.length),
      row('photo, "send the original"', original, photo.length),
      row(`voice, ${(voiceMs / 1_000).toFixed(1)} s of ${voice.body.mime}`, voice, voiceFloor),
    ],
    notes: [
      "Everything that TCP carries between Chromium and the server: heads, bodies and the socket's frames, HTTP/1.1 without TLS.",
      `The photo's floor is its own JPEG of ${formatKilobytes(photo.length)}, made with the grain of a phone's sensor; the longer edge is at most ${imageEdgePx} px. The shrunk one shall be at most 0.15×.`,
      `The voice's floor is ${voiceBitsPerSecond / 1_000} kbit/s for as long as it lasts (${formatKilobytes(voiceFloor)}); WebM around it comes on top. ${formatKilobytes((voice.up * 60_000) / voiceMs)} a minute.`,
    ],
  };
}

function toShowingSection(
  showings: Awaited<ReturnType<typeof measureFirstPicture>>,
  small: SentMedia<"image">,
  photo: Buffer,
): Section {
  const full = (visit: keyof typeof showings) => showings[visit].map((showing) => showing.full);
  const row = (name: string, visit: keyof typeof showings) => {
    const getMedian = (key: "placeholder" | "asked") => {
      const value = median(showings[visit].map((showing) => showing[key]));
      return Number.isNaN(value) ? "none" : formatMilliseconds(value);
    };
    const { ratio } = computeRatio(full(visit), full("bare"));
    return [
      name,
      getMedian("placeholder"),
      getMedian("asked"),
      formatMilliseconds(median(full(visit))),
      formatRatio(ratio),
    ];
  };
  const bytesPerSecond = 50_000;
  return {
    title: "First picture on slow 3G (400 kbit/s, 400 ms a request, processor 6× slower)",
    columns: ["", "placeholder", "asked for", "whole picture", "to the floor"],
    rows: [
      row("floor: a bare page with the same picture", "bare"),
      row("cold: signed in, nothing cached", "cold"),
      row("warm: service worker, the list was open before", "warm"),
    ],
    notes: [
      `Means of ${rounds} rounds in turn. The receiver opens the chat; the picture of ${formatKilobytes(small.body.size)} takes ${(small.body.size / bytesPerSecond).toFixed(1)} s on this link by itself, the original would take ${(photo.length / bytesPerSecond).toFixed(0)} s.`,
      '"Asked for": when a picture too large to come by itself could be tapped, and was; "none" when it came by itself.',
    ],
  };
}
