import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { type Duplex, Transform } from "node:stream";
import * as v from "valibot";
import { FileState } from "#contract/files.ts";
import { type PartsLog, watchParts } from "./parts-log.ts";
import type { Server } from "./server.ts";

/** Slow, unreliable connection to a server, like that of a phone far from its mast. */
export type SlowProxy = {
  /** Address of the product behind the proxy. */
  origin: string;
  /** Upload rate of all connections together; downloads are not limited. */
  bytesPerSecond: number;
  parts: PartsLog;
  drops: number;
  /** Cuts every connection, now and at each interval. */
  dropEvery(ms: number): void;
  holdStill(): void;
  stop(): Promise<void>;
};

const partPattern = /^\/api\/files\/[^/]+\/parts\/(\d+)$/;
const filePattern = /^\/api\/files\/[^/]+(\/complete)?$/;

const toPairs = (raw: string[]): [name: string, value: string][] =>
  raw.flatMap((name, i) => (i % 2 === 0 ? [[name, raw[i + 1] ?? ""]] : []));

/** Copies all headers except connection headers. */
const ownHeaders = (raw: string[]): string[] =>
  toPairs(raw)
    .filter(([name]) => !/^(connection|keep-alive)$/i.test(name))
    .flat();

/** Reads a stream along without consuming it. */
const readAlong = (reply: IncomingMessage, whole: (body: unknown) => void) => {
  const chunks: Buffer[] = [];
  reply.on("data", (chunk: Buffer) => chunks.push(chunk));
  reply.on("end", () => whole(JSON.parse(Buffer.concat(chunks).toString())));
};

export const startSlowProxy = async (server: Pick<Server, "port">, bytesPerSecond: number): Promise<SlowProxy> => {
  const watch = watchParts();
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<Socket>();
  let freeAt = 0;
  let dropping: NodeJS.Timeout | undefined;

  const slowed = () =>
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        const now = performance.now();
        freeAt = Math.max(now, freeAt) + (chunk.length / link.bytesPerSecond) * 1_000;
        setTimeout(() => done(null, chunk), freeAt - now);
      },
    });

  const pass = (incoming: IncomingMessage, answer: ServerResponse) => {
    const { method = "GET", url = "/", headers, socket } = incoming;
    const part = method === "PUT" ? partPattern.exec(url)?.[1] : undefined;
    if (part !== undefined) watch.recordPartStart(Number(part));
    const plain = { ...headers, "accept-encoding": "identity" }; // answers are read by the proxy
    const outgoing = request({ host: "localhost", port: server.port, agent, method, path: url, headers: plain });
    const cut = () => {
      outgoing.destroy();
      socket.destroy();
    };
    answer.once("close", () => !answer.writableFinished && cut());
    outgoing.on("error", cut);
    outgoing.on("response", (reply) => {
      reply.on("error", cut);
      if (part !== undefined && reply.statusCode === 204) watch.recordStoredPart(Number(part));
      if (filePattern.test(url) && reply.statusCode === 200)
        readAlong(reply, (body) => watch.recordReport(v.parse(FileState, body)));
      // Chromium resends by itself what a kept-alive connection lost. No connection is kept alive here.
      answer.shouldKeepAlive = false;
      answer.writeHead(reply.statusCode ?? 502, ownHeaders(reply.rawHeaders));
      reply.pipe(answer);
    });
    incoming.pipe(slowed()).pipe(outgoing);
  };

  const passSocket = ({ url, rawHeaders }: IncomingMessage, phone: Duplex, head: Buffer) => {
    const outgoing = connect(server.port, "localhost");
    const cut = () => {
      outgoing.destroy();
      phone.destroy();
    };
    for (const end of [outgoing, phone]) end.on("error", cut).on("close", cut);
    const lines = toPairs(rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
    outgoing.write(`GET ${url} HTTP/1.1\r\n${lines.join("")}\r\n`);
    outgoing.write(head);
    phone.pipe(slowed()).pipe(outgoing).pipe(phone);
  };

  const listener = createServer(pass).on("upgrade", passSocket);
  listener.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => listener.listen(0, "localhost", resolve));
  const address = listener.address();
  const port = typeof address === "object" && address ? address.port : 0;

  const drop = () => {
    link.drops++;
    freeAt = 0; // data in transit is lost
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const link: SlowProxy = {
    origin: `http://localhost:${port}`,
    bytesPerSecond,
    parts: watch.log,
    drops: 0,
    dropEvery(ms) {
      dropping = setInterval(drop, ms);
    },
    holdStill: () => clearInterval(dropping),
    async stop() {
      clearInterval(dropping);
      const closed = new Promise((resolve) => listener.close(resolve));
      for (const socket of sockets) socket.destroy();
      agent.destroy();
      await closed;
    },
  };
  return link;
};
