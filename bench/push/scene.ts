import { Device } from "#bench/rig/device.ts";
import type { Person } from "#bench/rig/person.ts";
import { type ConversationId, privateConversationId } from "#contract/ids.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";
import { LocalPushService, type ReceivedPush } from "#tests/support/push/push-service.ts";
import { startServer } from "#tests/support/server/server.ts";
import { encryptPush } from "#worker/lib/push/encryption.ts";
import { PushPhone, type Subscription, subscribeBareWorker, subscribeProduct } from "./push-phone.ts";
import type { PushRecords } from "./push-records.ts";
import { startBareOrigin, startProductOrigin } from "./worker-origins.ts";

/** People who write to the phone's owner: their conversations have pauses between pushes of their own. */
const senderCount = 3;
const overheadBytes = 16 + 4 + 1 + 65 + 16 + 1; // header, key, tag and delimiter of an encrypted push (RFC 8291)

export type Sender = { device: Device; handle: number; conversation: ConversationId };
export type SubscribedWorker = { name: string; subscription: Subscription; records: PushRecords };

/**
 * Phone with two service workers behind the same local push service, the floor's and the product's, and people whose
 * messages the product pushes to its owner. No page is open.
 */
export type PushScene = {
  service: LocalPushService;
  phone: PushPhone;
  bare: SubscribedWorker;
  product: SubscribedWorker;
  senders: readonly Sender[];
  stop(): Promise<void>;
};

/** Current time in epoch milliseconds, with fractions, comparable to those of service workers on this machine. */
export const readClock = (): number => performance.timeOrigin + performance.now();

export const toPath = ({ endpoint }: Subscription): string => new URL(endpoint).pathname;

/** Content of a pushed message, of as many encrypted bytes as another push. */
export const encryptLike = async (subscription: Subscription, { body }: ReceivedPush): Promise<Buffer> => {
  const notification = { title: "Patrick Ilunga", body: "Mbote", tag: "message" };
  const text = JSON.stringify({ notification }).padEnd(body.length - overheadBytes, " ");
  const encrypted = Buffer.from(await encryptPush(subscription, text));
  if (encrypted.length !== body.length) throw new Error(`${encrypted.length} bytes instead of ${body.length}`);
  return encrypted;
};

async function connectSenders(origin: string, owner: Person, socketOrigin: string): Promise<Sender[]> {
  const site = { origin, fetch };
  const senders: Sender[] = [];
  for (let n = 1; n <= senderCount; n++) {
    const person = await makePerson(site, n, `Personne ${n}`);
    await connectPeople(site, person, owner);
    const conversation = privateConversationId(person.id, owner.id);
    const device = await Device.connect({ ...person, origin: socketOrigin });
    senders.push({ device, conversation, handle: (await device.waitForRow(conversation)).handle });
  }
  return senders;
}

export async function openPushScene(): Promise<PushScene> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const service = await LocalPushService.start();
    stops.push(() => service.stop());
    const server = await startServer({ vars: { PUSH_RELAY: service.relay } });
    stops.push(server.stop);
    const [bare, product] = [await startBareOrigin(), await startProductOrigin(server.origin)];
    stops.push(bare.stop, product.stop);
    const phone = await PushPhone.start(service.flags);
    stops.push(() => phone.stop());
    const owner = {
      ...(await makePerson({ origin: product.origin, fetch }, 0, "Grâce Mbuyi")),
      origin: product.origin,
    };
    const senders = await connectSenders(product.origin, owner, server.origin);
    stops.push(async () => {
      for (const { device } of senders) device.close();
    });
    const subscriptions = await phone.withPages([bare.origin, product.origin], async (context) => {
      const page = context.pages()[0] ?? (await context.newPage());
      return {
        bare: await subscribeBareWorker(page, bare.origin),
        product: await subscribeProduct(page, product.origin, owner),
      };
    });
    return {
      service,
      phone,
      bare: { name: "bare service worker = floor", subscription: subscriptions.bare, records: bare.records },
      product: { name: "Lisolo", subscription: subscriptions.product, records: product.records },
      senders,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
