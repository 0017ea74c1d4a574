/** Path from a sender to a receiver, of the product or a floor, with one interface for both. */
export type Rig = {
  name: string;
  /** For comparison only: if it fails, the others are still measured. */
  isExtra?: boolean;
  /** Sends from A; `ref` counts up from 0 and identifies the message in both callbacks. */
  send(ref: number): void;
  /** Called with the arrival time of B's frame. */
  onDelivered(listener: (ref: number, at: number) => void): void;
  /** Called with the arrival time of A's ack. */
  onAcked(listener: (ref: number, at: number) => void): void;
  close(): Promise<void>;
};

const textTail = " Mbote, oza malamu? Nazali na nzela, nakokoma sima ya ngonga moko.";
/** Realistic text of 70 bytes that starts with its ref. */
export const createText = (ref: number): string => ref + textTail;
export const parseRef = (text: string): number => Number.parseInt(text, 10);

export type DeliveryTimes = { delivery: number[]; ack: number[] };

const deliveryTimeoutMs = 30_000;

/** Sends `count` messages from `first` on, `atOnce` every `gapMs`, and waits for every delivery and ack. */
export function driveRig(
  rig: Rig,
  first: number,
  count: number,
  atOnce: number,
  gapMs: number,
): Promise<DeliveryTimes> {
  const sentAt = new Float64Array(count);
  const times: DeliveryTimes = { delivery: [], ack: [] };
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => {
        reject(new Error(`${rig.name}: ${times.delivery.length} of ${count} delivered, ${times.ack.length} acked`));
      },
      deliveryTimeoutMs + (count / atOnce) * gapMs,
    );
    const record = (kind: keyof DeliveryTimes) => (ref: number, at: number) => {
      const sent = sentAt[ref - first];
      if (sent === undefined) return;
      times[kind].push(at - sent);
      if (times.delivery.length < count || times.ack.length < count) return;
      clearTimeout(timer);
      resolve(times);
    };
    rig.onDelivered(record("delivery"));
    rig.onAcked(record("ack"));
    const started = performance.now();
    let sent = 0;
    const step = () => {
      for (let i = 0; i < atOnce && sent < count; i++, sent++) {
        sentAt[sent] = performance.now();
        try {
          rig.send(first + sent);
        } catch (error) {
          clearTimeout(timer);
          return reject(error);
        }
      }
      if (sent < count) setTimeout(step, Math.max(1, started + (sent / atOnce) * gapMs - performance.now()));
    };
    step();
  });
}
