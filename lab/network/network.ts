import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Namespace } from "./namespace.ts";

/** Conditions of a link, applied to every packet in both directions. */
export type Shape = {
  /** One-way delay in milliseconds. */
  delay?: number;
  /** Share of lost packets, from 0 to 1. */
  loss?: number;
  /** Kilobits per second; 0 for unlimited. */
  rate?: number;
  /** Queue length in milliseconds; packets beyond it are dropped. */
  queue?: number;
  udp?: boolean;
  /** TCP ports that are let through, as in a company network; empty for all. */
  tcpPorts?: number[];
  up?: boolean;
};
/** Traffic of a link on the wire, IP headers included: sent and received by its node. */
type Traffic = { packets: number; bytes: number; udp: number; udpPackets: number; lost: number };
export type TrafficByLink = Record<string, { out: Traffic; in: Traffic }>;

type StarReply = { id: number; counts: TrafficByLink; error?: string };

const prefixLength = 24;

/** Network node with its own namespace; it may have several links, such as wifi and mobile. */
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

  /** Adds a link, which is down until `connect`. */
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

  /** Gives the device its address and makes it the default route. */
  connect(device: string): void {
    this.namespace.run("ip", "address", "add", `${this.addresses.get(device)}/${prefixLength}`, "dev", device);
    this.namespace.run("ip", "link", "set", device, "up");
    this.namespace.run("ip", "route", "replace", "default", "dev", device);
  }

  /** Makes the first link the default route again. */
  resetLinks(): void {
    const [first, ...others] = this.addresses.keys();
    for (const device of others) this.disconnect(device);
    if (!first) return;
    this.disconnect(first);
    this.connect(first);
  }

  /** Takes the device down, like a phone that leaves its wifi. */
  disconnect(device: string): void {
    this.namespace.run("ip", "address", "flush", "dev", device);
    this.namespace.run("ip", "link", "set", device, "down");
  }
}

/** Star of network nodes on this machine, within namespaces that disappear with this process. */
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
        answer({ id, counts, error: this.errorOutput || "the process of the star exited" });
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
    if (answer.error) throw new Error(`Network emulation: ${answer.error}`);
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

  /** Traffic of each link so far, keyed by `node.device`. */
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
