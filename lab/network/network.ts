import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Namespace } from "./namespace.ts";

/** What a link does to every packet, each way. */
export type Shape = {
  /** Milliseconds one way. */
  delay?: number;
  /** The share that is lost, from 0 to 1. */
  loss?: number;
  /** Kilobits a second; 0 for no limit. */
  rate?: number;
  /** Milliseconds of packets that may wait for the rate; what comes then is lost. */
  queue?: number;
  udp?: boolean;
  /** The ports to which TCP goes, as in a company's network; none for all. */
  tcpPorts?: number[];
  up?: boolean;
};
/** What went over a link on the wire, IP headers included: sent by its end, and received by it. */
type Traffic = { packets: number; bytes: number; udp: number; udpPackets: number; lost: number };
export type TrafficByLink = Record<string, { out: Traffic; in: Traffic }>;

type StarReply = { id: number; counts: TrafficByLink; error?: string };

const prefixLength = 24;

/** A machine of its own as far as the network goes; it may have several links, such as wifi and mobile. */
export class NetworkNode {
  readonly name: string;
  readonly namespace: Namespace;
  private readonly network: Network;
  private readonly addresses = new Map<string, string>();

  constructor(network: Network, name: string, space: Namespace) {
    this.network = network;
    this.name = name;
    this.namespace = space;
  }

  /** Puts a link there, which is down until `connect`. */
  async addLink(device: string, address: string): Promise<void> {
    await this.network.sendCommand({
      do: "link",
      link: `${this.name}.${device}`,
      pid: this.namespace.pid,
      device,
      address,
    });
    this.addresses.set(device, address);
  }

  shape(device: string, shape: Shape): Promise<TrafficByLink> {
    return this.network.shape(`${this.name}.${device}`, shape);
  }

  /** The device gets its address, and everything goes through it. */
  connect(device: string): void {
    this.namespace.run("ip", "address", "add", `${this.addresses.get(device)}/${prefixLength}`, "dev", device);
    this.namespace.run("ip", "link", "set", device, "up");
    this.namespace.run("ip", "route", "replace", "default", "dev", device);
  }

  /** Everything goes through the first of its links again. */
  resetLinks(): void {
    const [first, ...others] = this.addresses.keys();
    for (const device of others) this.disconnect(device);
    if (!first) return;
    this.disconnect(first);
    this.connect(first);
  }

  /** The device loses its address, as a phone that leaves its wifi. */
  disconnect(device: string): void {
    this.namespace.run("ip", "address", "flush", "dev", device);
    this.namespace.run("ip", "link", "set", device, "down");
  }
}

/** Ends joined in a star, everything on this machine, nothing of it outside of namespaces that go with this process. */
export class Network {
  private readonly star: ChildProcessWithoutNullStreams;
  private readonly nodes: NetworkNode[] = [];
  private readonly pendingCommands = new Map<number, (answer: StarReply) => void>();
  private errorOutput = "";
  private count = 0;

  private constructor() {
    this.star = spawn("python3", [fileURLToPath(new URL("star.py", import.meta.url))]);
    this.star.stderr.on("data", (chunk: Buffer) => {
      this.errorOutput += chunk.toString();
    });
    createInterface(this.star.stdout).on("line", (line) => {
      const answer = JSON.parse(line) as StarReply;
      this.pendingCommands.get(answer.id)?.(answer);
      this.pendingCommands.delete(answer.id);
    });
    this.star.once("exit", () => {
      const counts = {};
      for (const [id, answer] of this.pendingCommands)
        answer({ id, counts, error: this.errorOutput || "the star ended" });
    });
  }

  static async start(): Promise<Network> {
    const network = new Network();
    await network.sendCommand({ do: "count" });
    return network;
  }

  async sendCommand(command: object): Promise<TrafficByLink> {
    const id = ++this.count;
    const answer = await new Promise<StarReply>((resolve) => {
      this.pendingCommands.set(id, resolve);
      this.star.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
    });
    if (answer.error) throw new Error(`The network: ${answer.error}`);
    return answer.counts;
  }

  async addNode(name: string, links: Record<string, string>): Promise<NetworkNode> {
    const end = new NetworkNode(this, name, await Namespace.create());
    this.nodes.push(end);
    for (const [device, address] of Object.entries(links)) await end.addLink(device, address);
    const first = Object.keys(links)[0];
    if (first) end.connect(first);
    return end;
  }

  shape(link: string, shape: Shape): Promise<TrafficByLink> {
    return this.sendCommand({ do: "shape", link, shape });
  }

  /** What went over each link so far, as `end.device`. */
  readTraffic(): Promise<TrafficByLink> {
    return this.sendCommand({ do: "count" });
  }

  async stop(): Promise<void> {
    for (const end of this.nodes) end.namespace.stop();
    if (this.star.exitCode !== null) return;
    const ended = once(this.star, "exit");
    this.star.stdin.end();
    await ended;
  }
}
