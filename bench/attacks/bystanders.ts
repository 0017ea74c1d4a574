import { Agent, request } from "node:http";
import WebSocket from "ws";
import type { Person } from "#bench/rig/person.ts";
import { type ConversationId, createUuid, privateConversationId } from "#contract/ids.ts";
import { creditBytes, creditReportMessages } from "#contract/limits/sockets.ts";
import { encodeAppFrame } from "#contract/wire/app-frames.ts";
import { type Ack, decodeServerFrame, protocolVersion } from "#contract/wire/server-frames.ts";

/** One action of a bystander with the latency of each response; a missing latency means no response yet. */
export type Probe = {
  kind: "message" | "request";
  at: number;
  ackMs?: number;
  receivedMs?: number;
  answeredMs?: number;
  isRefused?: boolean;
};

const probeEveryMs = 150;
const reconnectMs = 500;
/** Requests that the app sends during use. */
const requestPaths = ["/api/conversations", "/api/contacts", "/api/auth/user", "/api/settings"];

/** Socket of a bystander, reopened when it closes. */
class BystanderSocket {
  onFrame: (text: string) => void = () => {};
  private socket: WebSocket | undefined;
  private isClosed = false;
  private received = 0;
  private unconfirmed = { messages: 0, bytes: 0 };

  private readonly person: Person;
  private readonly address: string;

  constructor(person: Person, address: string) {
    this.person = person;
    this.address = address;
  }

  /** Resolves with the welcome. */
  open(): Promise<void> {
    const { origin, token } = this.person;
    const socket = new WebSocket(`${origin.replace("http", "ws")}/api/socket`, {
      perMessageDeflate: false,
      headers: { authorization: `Bearer ${token}`, origin, "cf-connecting-ip": this.address },
    });
    this.socket = socket;
    socket.on("error", () => {});
    this.received = 0;
    this.unconfirmed = { messages: 0, bytes: 0 };
    socket.once("open", () =>
      socket.send(encodeAppFrame({ type: "hello", version: protocolVersion, epoch: "", counter: 0 })),
    );
    socket.once("close", () => {
      if (!this.isClosed) setTimeout(() => !this.isClosed && void this.open(), reconnectMs);
    });
    socket.on("message", (data) => this.onFrame(String(data)));
    return new Promise((resolve) => socket.once("message", () => resolve()));
  }

  send(text: string): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(text);
  }

  /** Acknowledges received messages as often as the app does. */
  confirm(messages: number, bytes: number): void {
    this.received += messages;
    this.unconfirmed.messages += messages;
    this.unconfirmed.bytes += bytes;
    if (this.unconfirmed.messages < creditReportMessages && this.unconfirmed.bytes < creditBytes / 4) return;
    this.unconfirmed = { messages: 0, bytes: 0 };
    this.send(encodeAppFrame({ type: "received", messages: this.received }));
  }

  close(): void {
    this.isClosed = true;
    this.socket?.terminate();
  }
}

/** Normal users who exchange messages and send requests at a constant pace during an attack. */
export class Bystanders {
  private readonly people: readonly Person[];
  private readonly group: ConversationId | undefined;
  private readonly probes: Probe[] = [];
  /** Pending messages by text, with the index of the recipient. */
  private readonly messages = new Map<string, { sendProbe: Probe; to: number }>();
  private readonly acks: Map<number, Probe>[];
  private readonly sockets: BystanderSocket[];
  private readonly agent = new Agent({ keepAlive: true });
  private timer: NodeJS.Timeout | undefined;
  private count = 0;

  /** `people` are consecutive pairs of contacts; with a `group` they write there instead. */
  constructor(people: readonly Person[], group?: ConversationId) {
    this.people = people;
    this.group = group;
    this.sockets = people.map((person, i) => new BystanderSocket(person, toAddress(i)));
    this.acks = people.map(() => new Map());
    for (const [i, socket] of this.sockets.entries()) socket.onFrame = (text) => this.handleFrame(i, text);
  }

  async start(): Promise<void> {
    await Promise.all(this.sockets.map((socket) => socket.open()));
    const started = performance.now();
    const step = () => {
      this.sendProbe(this.count++);
      this.timer = setTimeout(step, Math.max(1, started + this.count * probeEveryMs - performance.now()));
    };
    step();
  }

  stop(): void {
    clearTimeout(this.timer);
    for (const socket of this.sockets) socket.close();
    this.agent.destroy();
  }

  /** Probes started between two times, with the responses received so far. */
  listProbes(from: number, to: number): Probe[] {
    return this.probes.filter(({ at }) => at >= from && at < to);
  }

  private sendProbe(n: number): void {
    const i = n % this.people.length;
    const [person, other] = [this.people[i], this.people[i ^ 1]];
    if (!person || !other) throw new Error("Bystanders come in pairs");
    const at = performance.now();
    const message: Probe = { kind: "message", at };
    const request: Probe = { kind: "request", at };
    this.probes.push(message, request);
    const text = `Mbote ${createUuid()}`;
    this.messages.set(text, { sendProbe: message, to: i ^ 1 });
    this.acks[i]?.set(n, message);
    const conversation = this.group ?? privateConversationId(person.id, other.id);
    this.sockets[i]?.send(
      encodeAppFrame({ type: "send", ref: n, conversation, cid: createUuid(), body: { type: "text", text } }),
    );
    this.sendRequest(person, i, requestPaths[Math.floor(n / this.people.length) % requestPaths.length] ?? "", request);
  }

  private sendRequest({ origin, token }: Person, i: number, path: string, probe: Probe): void {
    const headers = { authorization: `Bearer ${token}`, "cf-connecting-ip": toAddress(i) };
    request(origin + path, { agent: this.agent, headers }, (answer) => {
      if (answer.statusCode !== 200) probe.isRefused = true;
      answer.resume();
      answer.once("error", () => {}).once("end", () => (probe.answeredMs = performance.now() - probe.at));
    })
      .once("error", () => {})
      .end();
  }

  private handleFrame(i: number, data: string): void {
    const at = performance.now();
    const frame = decodeServerFrame(data);
    if (!frame || "event" in frame) return;
    if (frame.type === "liveText") {
      this.sockets[i]?.confirm(1, Buffer.byteLength(data));
      this.recordDelivery(i, frame.text, at);
    } else if (frame.type === "messages") {
      this.sockets[i]?.confirm(frame.messages.length, Buffer.byteLength(data));
      for (const { body } of frame.messages) if (body.type === "text") this.recordDelivery(i, body.text, at);
      this.recordAcks(i, at, frame.acks);
    } else if (frame.type === "acknowledgement") this.recordAcks(i, at, frame.acks);
    else if (frame.type === "refusal") {
      const probe = this.acks[i]?.get(frame.ref);
      if (probe) probe.isRefused = true;
    }
  }

  private recordDelivery(i: number, text: string, at: number): void {
    const { sendProbe, to } = this.messages.get(text) ?? {};
    if (sendProbe && to === i) sendProbe.receivedMs ??= at - sendProbe.at;
  }

  private recordAcks(i: number, at: number, acks: readonly Ack[] = []): void {
    for (const { ref } of acks) {
      const probe = this.acks[i]?.get(ref);
      if (probe) probe.ackMs ??= at - probe.at;
    }
  }
}

/** Address of bystander number `i`: each has its own. */
const toAddress = (i: number): string => `10.1.0.${i + 1}`;
