import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type Server as HttpServer, type IncomingMessage, request } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, createServer as createTcpServer, type Server as TcpServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type WebSocket, WebSocketServer } from "ws";
import { makeFolder, removeFolder } from "#lab/folder.ts";
import type { NetworkNode } from "#lab/network/network.ts";
import type { Certificate } from "#lab/programs/certificate.ts";
import { bin } from "#scripts/run.mjs";

export type Gateway = { close(): void };

/** Runs at a node: connections to `from` are forwarded to `to`, each an `address:port` of its network or a path. */
export async function runGateway(end: NetworkNode, from: string, to: string): Promise<ChildProcess> {
  const script = fileURLToPath(new URL("../network/gateway.mjs", import.meta.url));
  const child = end.namespace.spawn(join(bin, "node"), [script, from, to]);
  await new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    child.once("exit", () => reject(new Error(`Nothing can listen at ${from}`)));
  });
  return child;
}

/** Makes a server outside the laboratory's network reachable at an address inside it. */
async function openGateway(
  end: NetworkNode,
  address: string,
  port: number,
  server: HttpServer | TcpServer,
): Promise<Gateway> {
  const folder = makeFolder();
  const path = join(folder, "outside");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const child = await runGateway(end, `${address}:${port}`, path);
  return {
    close() {
      child.kill("SIGKILL");
      server.close();
      removeFolder(folder);
    },
  };
}

/** Forwards to a server that listens on this machine. */
export function openGatewayTo(end: NetworkNode, address: string, port: number): Promise<Gateway> {
  const relay = createTcpServer((inner) => {
    const outer = connect(port, "localhost");
    inner.pipe(outer).pipe(inner);
    for (const socket of [inner, outer]) {
      socket.on("error", () => {
        inner.destroy();
        outer.destroy();
      });
    }
  });
  return openGateway(end, address, port, relay);
}

/**
 * Serves a product of this machine over TLS, for a browser that keeps no secure cookies and service workers of
 * `http://localhost`. The product sees requests of its own origin.
 */
export function openSecureGateway(
  end: NetworkNode,
  from: { address: string; port: number; certificate: Certificate },
  port: number,
): Promise<Gateway> {
  const open = ({ method, url, headers }: IncomingMessage) => {
    const own = { host: `localhost:${port}`, ...(headers.origin && { origin: `http://localhost:${port}` }) };
    return request({ host: "localhost", port, method, path: url, headers: { ...headers, ...own } });
  };
  const { path, keyPath } = from.certificate;
  const server = createTlsServer({ cert: readFileSync(path), key: readFileSync(keyPath) });
  server.on("request", (incoming, answer) => {
    const outgoing = open(incoming).on("error", () => answer.destroy());
    outgoing.on("response", (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    incoming.pipe(outgoing);
  });
  server.on("upgrade", (incoming, inner) => {
    const outgoing = open(incoming).on("response", () => inner.destroy());
    outgoing.on("upgrade", ({ headers }, outer) => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      inner.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`);
      inner.on("error", () => outer.destroy()).pipe(outer);
      outer.on("error", () => inner.destroy()).pipe(inner);
    });
    outgoing.on("error", () => inner.destroy()).end();
  });
  return openGateway(end, from.address, from.port, server);
}

/** Serves the two baseline pages and relays their messages, across reconnects. */
export function openBaselineGateway(end: NetworkNode, address: string, port: number): Promise<Gateway> {
  const read = (name: string) => readFileSync(new URL(name, import.meta.url));
  const server = createServer(({ url }, response) => {
    const isScript = url === "/baseline.js";
    response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html; charset=utf-8" });
    response.end(read(isScript ? "baseline.js" : "baseline.html"));
  });
  const sockets = new Map<string, WebSocket>();
  const undelivered = new Map<string, string[]>();
  new WebSocketServer({ server, perMessageDeflate: false }).on("connection", (socket, { url }) => {
    const side = String(url);
    const other = side === "/caller" ? "/callee" : "/caller";
    sockets.set(side, socket);
    for (const text of undelivered.get(side)?.splice(0) ?? []) socket.send(text);
    socket.on("error", () => socket.terminate());
    socket.on("message", (data) => {
      const otherSocket = sockets.get(other);
      if (otherSocket?.readyState === 1) otherSocket.send(String(data));
      else undelivered.set(other, [...(undelivered.get(other) ?? []), String(data)]);
    });
  });
  return openGateway(end, address, port, server);
}
