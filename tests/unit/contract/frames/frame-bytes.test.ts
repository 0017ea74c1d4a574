import { expect, test } from "vitest";
import { encodeAppFrame } from "#contract/wire/app-frames.ts";
import { decodeClientFrames } from "#contract/wire/client-frames.ts";
import { decodeServerFrame, encodeServerFrame, type ServerFrame, toSocketBase } from "#contract/wire/server-frames.ts";
import { appExamples, base, serverExamples } from "./frame-examples.ts";

// After an intended change of the protocol: `npx vitest run -u tests/unit/contract/frames/frame-bytes.test.ts`.

/** A welcome is relative to the base that follows from it. */
const baseOf = (frame: ServerFrame) => (frame.type === "welcome" ? toSocketBase(frame) : base);

test("every frame of the server has the recorded bytes", async () => {
  const texts = serverExamples.map((frame) => `${encodeServerFrame(frame, baseOf(frame))}\n`);
  await expect(texts.join("")).toMatchFileSnapshot("frame-bytes-server.txt");
});

test.each(serverExamples)("the server's frame %# ($type) is decoded as it was encoded", (frame) => {
  expect(decodeServerFrame(encodeServerFrame(frame, baseOf(frame)), base)).toEqual(frame);
});

test("every frame of the app has the recorded bytes", async () => {
  const texts = appExamples.map((frame) => `${encodeAppFrame(frame)}\n`);
  await expect(texts.join("")).toMatchFileSnapshot("frame-bytes-app.txt");
});

test.each(appExamples)("the app's frame %# ($type) is decoded as it was encoded", (frame) => {
  expect(decodeClientFrames(encodeAppFrame(frame))).toEqual([frame]);
});
