import { createUuid } from "../contract/ids";
import { sendBatchMax } from "../contract/limits";
import { call, type Pair } from "./person";
import { textOf } from "./rig";

/** Writes `count` messages into a pair's chat over HTTP, both by turns; returns the newest one's text. */
export async function fillChat({ a, b, conversation }: Pair, count: number): Promise<string> {
  for (let sent = 0; sent < count; sent += sendBatchMax) {
    const size = Math.min(sendBatchMax, count - sent);
    const messages = Array.from({ length: size }, (_, i) => ({
      cid: createUuid(),
      body: { type: "text", text: textOf(sent + i) },
    }));
    const speaker = (sent / sendBatchMax) % 2 === 0 ? a : b;
    await call(speaker, "POST", `/api/conversations/${conversation}/messages`, { messages });
  }
  return textOf(count - 1);
}
