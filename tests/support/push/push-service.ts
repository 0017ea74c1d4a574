import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Server as TcpServer } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import {
  bytesField,
  createFrameReader,
  encodeDataMessage,
  encodeFrame,
  fixed64Field,
  mcsTags,
  mcsVersion,
  numberField,
} from "./mcs-frames.ts";
import { makeSelfSignedCertificate } from "./self-signed-certificate.ts";

/** Push that the Worker sent (RFC 8030). `at`: epoch milliseconds. */
export type ReceivedPush = { path: string; headers: IncomingMessage["headers"]; body: Buffer; at: number };

type Registration = { app: string; subtype: string; sender: string };

const pathOfEndpoint = /^\/(?:fcm\/send|wp)\/([^/?]+)$/;
const deviceId = 5_555_555_555_555_555_555n;
const deviceToken = 7_777_777_777_777_777_777n;

const listen = (server: Server | TcpServer): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

/**
 * Push service on this machine for a full Chromium: check-in, registration and delivery as Google's, and an RFC 8030
 * address for the Worker (`PUSH_RELAY`). Subscriptions, encryption and push events are the browser's own.
 */
export class LocalPushService {
  readonly #registrations = new Map<string, Registration>();
  readonly #sockets = new Set<TLSSocket>();
  readonly #http = createServer((request, response) => {
    void this.#answer(request).then(({ status, body }) => response.writeHead(status).end(body));
  });
  readonly #mcs = createTlsServer(makeSelfSignedCertificate(), (socket) => this.#serve(socket));
  /** Messages for a browser that is not connected; the next one to connect receives them. */
  readonly #queue: Buffer[] = [];
  #lastId = 0;
  /** Pushes of the Worker, in order. */
  readonly received: ReceivedPush[] = [];
  /** HTTP status that pushes are answered with instead of being delivered. */
  failure: number | undefined;
  /** Address for the Worker. */
  relay = "";
  /** Flags that make Chromium use this service. */
  flags: string[] = [];

  static async start(): Promise<LocalPushService> {
    const service = new LocalPushService();
    const [http, mcs] = await Promise.all([listen(service.#http), listen(service.#mcs)]);
    service.relay = `http://127.0.0.1:${http}`;
    service.flags = [
      `--gcm-checkin-url=${service.relay}/checkin`,
      `--gcm-registration-url=${service.relay}/register`,
      `--gcm-mcs-endpoint=https://127.0.0.1:${mcs}`,
      "--ignore-certificate-errors",
    ];
    return service;
  }

  /** Sends the body of an earlier push again, as a push that was under way would arrive. */
  repeat({ path, body }: Pick<ReceivedPush, "path" | "body">): number {
    return this.#deliver(path, body);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#http.closeAllConnections();
    await Promise.all([this.#http, this.#mcs].map((server) => new Promise((resolve) => server.close(resolve))));
  }

  async #answer(request: IncomingMessage): Promise<{ status: number; body?: Buffer | string }> {
    const body = await readBody(request);
    const at = performance.timeOrigin + performance.now();
    const path = request.url ?? "";
    if (path.startsWith("/checkin")) {
      const times = [numberField(1, 1), numberField(3, Date.now())];
      return { status: 200, body: Buffer.concat([...times, fixed64Field(7, deviceId), fixed64Field(8, deviceToken)]) };
    }
    if (path.startsWith("/register"))
      return { status: 200, body: this.#register(new URLSearchParams(body.toString())) };
    if (request.method !== "POST" || !pathOfEndpoint.test(path)) return { status: 404 };
    this.received.push({ path, headers: request.headers, body, at });
    return { status: this.failure ?? this.#deliver(path, body) };
  }

  #register(form: URLSearchParams): string {
    const subtype = form.get("X-subtype") ?? "";
    if (form.get("delete") === "true") {
      for (const [token, one] of this.#registrations) if (one.subtype === subtype) this.#registrations.delete(token);
      return `deleted=${form.get("app")}`;
    }
    const token = `token-${++this.#lastId}-${crypto.randomUUID()}`;
    this.#registrations.set(token, { app: form.get("app") ?? "", subtype, sender: form.get("sender") ?? "" });
    return `token=${token}`;
  }

  #serve(socket: TLSSocket): void {
    const read = createFrameReader((tag) => {
      if (tag === mcsTags.heartbeatPing) socket.write(encodeFrame(mcsTags.heartbeatAck));
      if (tag !== mcsTags.loginRequest) return;
      const login = Buffer.concat([bytesField(1, "chrome-1"), numberField(8, Date.now())]);
      socket.write(Buffer.concat([Buffer.from([mcsVersion]), encodeFrame(mcsTags.loginResponse, login)]));
      this.#sockets.add(socket);
      for (const frame of this.#queue.splice(0)) socket.write(frame);
    });
    socket.on("data", read);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
  }

  #deliver(path: string, body: Buffer): number {
    const token = decodeURIComponent(pathOfEndpoint.exec(path)?.[1] ?? "");
    const registration = this.#registrations.get(token);
    if (!registration) return 410;
    const id = `push-${++this.#lastId}`;
    const frame = encodeFrame(
      mcsTags.dataMessage,
      encodeDataMessage({ id, ...registration, sentAt: Date.now(), body }),
    );
    if (this.#sockets.size === 0) this.#queue.push(frame);
    for (const socket of this.#sockets) socket.write(frame);
    return 201;
  }
}
