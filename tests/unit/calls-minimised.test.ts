import { expect, it } from "vitest";
import { makeCallPair } from "../support/call-pair";

it("who rings again at once after a call that was put away is seen", async () => {
  const { time, a, b, talk, chat, ana } = await makeCallPair();
  await talk();
  a.engine.setMinimised(true);
  a.engine.act({ type: "hangUp" });
  a.engine.setMinimised(true); // the tap came too late
  await time.pass(500);
  b.dial(chat, ana);
  await time.pass(500);
  expect(a.view).toMatchObject({ state: { at: "ringing" }, isMinimised: false });
});
