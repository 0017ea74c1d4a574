import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { brotliCompressSync, constants } from "node:zlib";

/** Quality that Cloudflare's edge uses for dynamic compression. */
export const edgeBrotliQuality = 4;

/**
 * Accept-Encoding sent to the upstream. Wrangler's server would encode every response in the first encoding of the
 * browser's list; it ignores a value with a parameter, while the Worker still sees that brotli is accepted.
 */
const upstreamEncoding = "br;as=is";

const compressible = /^(text\/|application\/(javascript|json|manifest\+json)|image\/svg)/;

export type EdgeProxy = {
  origin: string;
  /** Bytes sent and received by the clients so far: headers, bodies and frames, as carried by TCP. */
  traffic(): { up: number; down: number };
  stop(): Promise<void>;
};

/**
 * Proxy in front of a local server that compresses like the production edge, which Wrangler's development server does
 * not. Compressed responses pass unchanged. Results are cached, so that a measured page waits only for the network.
 * WebSocket upgrades pass through. `respond` returns true for requests that it answers itself.
 */
export async function startCompressingProxy(
  upstream: string,
  respond: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean = () => false,
): Promise<EdgeProxy> {
  const target = new URL(upstream);
  const cache = new Map<string, Buffer>();
  const forward = (incoming: IncomingMessage) =>
    request({
      host: target.hostname,
      port: target.port,
      method: incoming.method,
      path: incoming.url,
      headers: {
        ...incoming.headers,
        "accept-encoding": acceptsBrotli(incoming) ? upstreamEncoding : "identity",
      },
    });

  const server: Server = createServer((incoming, outgoing) => {
    if (respond(incoming, outgoing)) return;
    const upstreamRequest = forward(incoming);
    upstreamRequest.on("response", (response) => {
      void readBody(response).then((body) => answerWith(outgoing, response, incoming, body));
    });
    upstreamRequest.on("error", () => outgoing.writeHead(502).end());
    incoming.pipe(upstreamRequest);
  });

  function answerWith(outgoing: ServerResponse, response: IncomingMessage, incoming: IncomingMessage, body: Buffer) {
    const headers = { ...response.headers };
    delete headers["transfer-encoding"];
    const isText = compressible.test(String(headers["content-type"])) && !headers["content-encoding"];
    let sent = body;
    if (acceptsBrotli(incoming) && isText && body.length > 200) {
      const key = createHash("sha1").update(body).digest("hex");
      sent = cache.get(key) ?? compressBrotli(body);
      cache.set(key, sent);
      headers["content-encoding"] = "br";
      headers["vary"] = "accept-encoding";
    }
    const hasBody = incoming.method !== "HEAD" && response.statusCode !== 204 && response.statusCode !== 304;
    if (hasBody) headers["content-length"] = String(sent.length);
    outgoing.writeHead(response.statusCode ?? 502, headers);
    outgoing.end(hasBody ? sent : undefined);
  }

  const connections: Socket[] = [];
  server.on("connection", (socket) => connections.push(socket));

  const tunnels = new Set<Duplex>();
  server.on("upgrade", (incoming, socket, head) => {
    const upstreamRequest = forward(incoming);
    upstreamRequest.on("upgrade", (response, upstreamSocket, upstreamHead) => {
      const lines = Object.entries(response.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`);
      upstreamSocket.write(head);
      socket.write(upstreamHead);
      socket.pipe(upstreamSocket).pipe(socket);
      for (const end of [socket, upstreamSocket]) {
        tunnels.add(end);
        end.on("error", () => end.destroy());
        end.on("close", () => tunnels.delete(end));
      }
    });
    upstreamRequest.on("response", (response) =>
      socket.end(`HTTP/1.1 ${response.statusCode} Refused\r\nconnection: close\r\n\r\n`),
    );
    upstreamRequest.on("error", () => socket.destroy());
    upstreamRequest.end();
  });

  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    traffic: () => ({
      up: connections.reduce((sum, socket) => sum + socket.bytesRead, 0),
      down: connections.reduce((sum, socket) => sum + socket.bytesWritten, 0),
    }),
    stop: () =>
      new Promise((resolve) => {
        for (const socket of tunnels) socket.destroy();
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function acceptsBrotli({ headers }: IncomingMessage): boolean {
  return String(headers["accept-encoding"]).includes("br");
}

async function readBody(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function compressBrotli(body: Buffer): Buffer {
  return brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: edgeBrotliQuality } });
}
