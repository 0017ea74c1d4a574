import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { startCompressingProxy } from "#bench/rig/compressing-proxy.ts";
import { PushRecords, recordingScript, recordPath } from "./push-records.ts";

/** Origin whose service worker, `/sw.js`, records the pushes that it receives. */
export type WorkerOrigin = { origin: string; records: PushRecords; stop(): Promise<void> };

/** Floor of a service worker: it shows each push and does nothing else. */
const bareWorker = `${recordingScript}
addEventListener("install", (event) => event.waitUntil(skipWaiting()));
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("push", (event) => {
  const { title, body, tag } = event.data.json().notification;
  event.waitUntil(registration.showNotification(title, { body, tag }));
});
`;
const barePage = `<!doctype html><html lang="fr"><meta charset="utf-8"><title>Page</title><link rel="icon" href="data:,"></html>`;

const receiveRecord = async (request: IncomingMessage, response: ServerResponse, records: PushRecords) => {
  let json = "";
  for await (const chunk of request) json += String(chunk);
  records.add(json);
  response.writeHead(204).end();
};

export async function startBareOrigin(): Promise<WorkerOrigin> {
  const records = new PushRecords();
  const server = createServer((request, response) => {
    if (request.url === recordPath) void receiveRecord(request, response, records);
    else if (request.url === "/sw.js") response.writeHead(200, { "content-type": "text/javascript" }).end(bareWorker);
    else response.writeHead(200, { "content-type": "text/html" }).end(barePage);
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    records,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** The product behind a proxy that puts `recordingScript` before its service worker. */
export async function startProductOrigin(upstream: string): Promise<WorkerOrigin> {
  const records = new PushRecords();
  const sendWorker = async (response: ServerResponse) => {
    const original = await fetch(`${upstream}/sw.js`);
    const headers = Object.fromEntries(original.headers);
    for (const name of ["content-encoding", "content-length", "transfer-encoding"]) delete headers[name];
    response.writeHead(original.status, headers).end(recordingScript + (await original.text()));
  };
  const { origin, stop } = await startCompressingProxy(upstream, (request, response) => {
    if (request.url === recordPath) void receiveRecord(request, response, records);
    else if (request.url === "/sw.js") void sendWorker(response);
    else return false;
    return true;
  });
  return { origin, records, stop };
}
