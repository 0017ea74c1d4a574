import type { Page } from "@playwright/test";
import type { ConversationId } from "#contract/ids.ts";
import { pingFrame } from "#contract/wire/server-frames.ts";
import { requireFreePort } from "#scripts/run.mjs";
import { placeCall } from "#tests/support/browser/call-client.ts";
import { waitForOfflineReady } from "#tests/support/browser/offline.ts";
import { TestClient, textsOf } from "#tests/support/browser/test-client.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import type { Person } from "#tests/support/people/people.ts";
import { type Server, startServer } from "#tests/support/server/server.ts";
import { type Gateway, openGatewayTo } from "./pages/gateway.ts";
import { type CallOptions, type LabCall, type Scene, serverAddress, serverPort } from "./scene.ts";

const ringMs = 4_000; // time to take the phone out of a pocket
const ringTimeoutMs = 30_000;
const texts = textsOf.fr;

/**
 * Socket traffic of both pages with the server since they were opened, in frames and characters. `roundTrips` is an
 * upper bound: frames except pings, and HTTP requests about calls.
 */
type FrameCounts = { sent: number; received: number; characters: number; roundTrips: number };
type ProductCall = LabCall & { people: [Person, Person]; conversation: ConversationId; frames(): FrameCounts };

/** Product served to the laboratory's network, with or without a relay. */
export type Product = {
  server: Server;
  ring: (scene: Scene, options: CallOptions) => Promise<ProductCall>;
  stop(): Promise<void>;
};

let pairCount = 0;

function countFrames(page: Page, frames: FrameCounts): void {
  page.on("websocket", (socket) => {
    const count =
      (direction: "sent" | "received") =>
      ({ payload }: { payload: string | Buffer }) => {
        frames[direction]++;
        frames.characters += payload.length;
        if (direction === "sent" && payload !== pingFrame) frames.roundTrips++;
      };
    socket.on("framesent", count("sent")).on("framereceived", count("received"));
  });
  page.on("requestfinished", (request) => {
    if (new URL(request.url()).pathname.startsWith("/api/calls")) frames.roundTrips++;
  });
}

/**
 * `relay`: settings of the server. People who have just met hide their addresses from each other, so with a relay all
 * media goes through it.
 */
export async function startProduct(relay?: { host: string; secret: string }): Promise<Product> {
  const vars = relay && { RELAY: "coturn", TURN_HOST: relay.host, TURN_SECRET: relay.secret };
  await requireFreePort(serverPort);
  const server = await startServer({ port: serverPort, ...(vars && { vars }) });
  return { server, ring: (scene, options) => prepareCall(server, scene, options), stop: () => server.stop() };
}

async function prepareCall(server: Server, scene: Scene, { hasVideo = false }: CallOptions): Promise<ProductCall> {
  pairCount += 2;
  const { people, conversation } = await makePair(toSite(server), pairCount);
  const door: Gateway = await openGatewayTo(scene.server, serverAddress, serverPort);
  const phones: TestClient[] = [];
  const frames: FrameCounts = { sent: 0, received: 0, characters: 0, roundTrips: 0 };
  for (const [n, side] of scene.sides.entries()) {
    const [me, other] = n === 0 ? people : [people[1], people[0]];
    const phone = await TestClient.openIn(await side.open(), server, "fr");
    countFrames(phone.page, frames);
    await phone.signInToChat(me, other.id);
    await waitForOfflineReady(phone.page);
    phones.push(phone);
  }
  const [caller, callee] = phones;
  if (!caller || !callee) throw new Error("Caller or callee is missing");
  const pages: [Page, Page] = [caller.page, callee.page];
  const answer = callee.page.getByRole("button", { name: texts.calls.accept, exact: true });
  return {
    pages,
    people,
    conversation,
    frames: () => ({ ...frames }),
    async ring() {
      await placeCall(caller, people[1], hasVideo ? "video" : "audio");
      await answer.waitFor({ timeout: ringTimeoutMs });
      await callee.page.waitForTimeout(ringMs);
    },
    async accept() {
      await answer.click();
      return callee.page.evaluate(() => labWatcher.clicks.at(-1) ?? Number.NaN);
    },
    async end() {
      const hangUp = caller.page.getByRole("button", { name: texts.calls.hangUp }).first();
      await hangUp.click({ timeout: 2_000 }).catch(() => undefined); // the call may have ended already
      for (const { context } of phones) await context.close();
      door.close();
    },
  };
}
