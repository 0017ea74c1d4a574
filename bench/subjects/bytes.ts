import { Device } from "#bench/rig/device.ts";
import { makePair } from "#bench/rig/person.ts";
import { buildProduct } from "#bench/rig/product.ts";
import { median } from "#bench/rig/statistics.ts";
import type { Section } from "#bench/rig/table.ts";
import { startServer } from "#tests/support/server/server.ts";

const texts: [string, string][] = [
  ["2 letters", "Ok"],
  ["a short line", "Mbote, ozali malamu?"],
  ["French with accents", "T'as déjà mangé ? On se voit à 15 h devant la pharmacie, à côté de l'arrêt."],
  ["emoji", "👩‍👩‍👧‍👦 🎉🎉 😂"],
  ["quotes and lines", 'Il a dit "non",\npuis "oui"\n\net il est parti \\o/'],
  ["Lingala, 480 letters", "Nazali na nzela, nakokoma sima ya ngonga moko. ".repeat(10).trim()],
  ["Arabic", "مرحبا، كيف حالك اليوم؟"],
];
const repeats = 3;
const settleMs = 600; // longer than the receipt coalescing of server and device

const countBytes = (text: string): number => Buffer.byteLength(text);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

type RecordedFrame = { device: string; direction: "in" | "out"; frame: string };

export async function measureBytes(): Promise<Section[]> {
  buildProduct();
  const server = await startServer();
  const devices: Device[] = [];
  try {
    const { a, b, conversation } = await makePair(server.origin);
    const allFrames: RecordedFrame[] = [];
    const open = async (name: string, person: typeof a) => {
      const device = await Device.connect(person, {
        onFrame: (direction, frame) => allFrames.push({ device: name, direction, frame }),
      });
      devices.push(device);
      return device;
    };
    const from = await open("A", a);
    const to = await open("B", b);
    await open("A's other", a);
    await open("B's other", b);
    const handle = (await from.waitForRow(conversation)).handle;
    const handleOfB = (await to.waitForRow(conversation)).handle;
    await pause(settleMs);

    const frames = async (action: () => void) => {
      allFrames.length = 0;
      action();
      await pause(settleMs);
      const recorded = [...allFrames];
      return (device: string, direction: "in" | "out", head?: string) =>
        recorded
          .filter((one) => one.device === device && one.direction === direction)
          .filter(
            (one) =>
              head === undefined ||
              one.frame.startsWith(`["${head}"`) ||
              (head === "live" && !one.frame.startsWith("[")),
          )
          .map((one) => countBytes(one.frame));
    };

    const rows: string[][] = [];
    let ref = 0;
    let seq = 0;
    for (const [name, text] of texts) {
      const sizes = { send: [] as number[], live: [] as number[], ack: [] as number[], own: [] as number[] };
      for (let i = 0; i < repeats; i++) {
        const getSizes = await frames(() => from.send(++ref, handle, text));
        seq++;
        sizes.send.push(...getSizes("A", "out", "s"));
        sizes.live.push(...getSizes("B", "in", "live"));
        sizes.ack.push(...getSizes("A", "in", "a"));
        sizes.own.push(...getSizes("A's other", "in", "m"));
      }
      const size = countBytes(text);
      const beyond = (list: number[]) => (list.length === 0 ? "none" : `+${median(list) - size}`);
      rows.push([
        name,
        String(size),
        beyond(sizes.live),
        beyond(sizes.send),
        String(median(sizes.ack)),
        beyond(sizes.own),
      ]);
    }

    const delivered = await frames(() => to.write({ type: "mark", conversation: handleOfB, delivered: seq, read: 0 }));
    const read = await frames(() => to.write({ type: "mark", conversation: handleOfB, delivered: seq, read: seq }));
    const burst = await frames(() => {
      for (let i = 0; i < 16; i++) from.send(++ref, handle, texts[1]?.[1] ?? "");
    });
    const burstText = 16 * countBytes(texts[1]?.[1] ?? "");
    const sum = (list: number[]) => list.reduce((total, value) => total + value, 0);
    const firstWelcome = await openedWith(a, undefined);
    const emptyWelcome = await openedWith(a, firstWelcome.cursor);
    const other: string[][] = [
      ["delivered: from B / to B's other / to A", receipt(delivered)],
      ["read: from B / to B's other / to A", receipt(read)],
      ["16 texts at once: per text beyond it, to B", `+${((sum(burst("B", "in")) - burstText) / 16).toFixed(1)}`],
      ["16 texts at once: their acks, per text", (sum(burst("A", "in", "a")) / 16).toFixed(1)],
      ["hello of a new device", String(firstWelcome.hello)],
      ["welcome of a new device, 1 chat and 1 contact", String(firstWelcome.welcome)],
      ["hello of a device that comes back", String(emptyWelcome.hello)],
      ["welcome with nothing new", String(emptyWelcome.welcome)],
    ];
    return [
      {
        title: "Bytes of a text message's frames",
        columns: ["text", "its UTF-8", "live to B", "send from A", "ack to A", "A's other device"],
        rows,
        notes: [
          "+n is what the frame takes beyond the text's own UTF-8. WebSocket's own header comes on top: 2 bytes (4 from 126 on) and from a device 4 more for the mask.",
          "Aim: at most 12 bytes beyond the text for a live message.",
        ],
      },
      { title: "Bytes of the other frames", columns: ["frame", "bytes"], rows: other, notes: [] },
    ];

    function receipt(getSizes: (device: string, direction: "in" | "out") => number[]): string {
      return `${sum(getSizes("B", "out"))} / ${sum(getSizes("B's other", "in"))} / ${sum(getSizes("A", "in"))}`;
    }

    async function openedWith(person: typeof a, cursor: [string, number] | undefined) {
      const sizes: number[] = [];
      let latest: [string, number] = ["", 0];
      const device = await Device.connect(person, {
        ...(cursor && { cursor }),
        onFrame: (direction, frame) => {
          sizes.push(countBytes(frame));
          if (direction === "in") latest = readCursor(frame);
        },
      });
      device.close();
      return { hello: sizes[0], welcome: sizes[1], cursor: latest };
    }
  } finally {
    for (const device of devices) device.close();
    await server.stop();
  }
}

/** Epoch and counter of a welcome. */
function readCursor(frame: string): [string, number] {
  const [, , epoch, counter] = JSON.parse(frame) as [string, number, string, number];
  return [epoch, counter];
}
