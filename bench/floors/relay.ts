import { fork } from "node:child_process";
import { once } from "node:events";
import WebSocket from "ws";
import { createText, parseRef, type Rig } from "#bench/rig/rig.ts";
import { createUuid } from "#contract/ids.ts";

export type FloorMode = "memory" | "wal" | "rollback";
export type Floor = { mode: FloorMode; url: string; stop(): Promise<void> };

/** Starts floors/relay.mjs in a process of its own; `file` is the path of its database. */
export async function startFloor(mode: FloorMode, file: string): Promise<Floor> {
  const child = fork(new URL("relay.mjs", import.meta.url), [mode, file], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  const [port] = (await once(child, "message")) as [number];
  const stop = async () => {
    child.disconnect();
    if (child.exitCode === null) await once(child, "exit");
  };
  return { mode, url: `ws://127.0.0.1:${port}`, stop };
}

export async function connectToFloor(floor: Floor): Promise<WebSocket> {
  const socket = new WebSocket(floor.url, { perMessageDeflate: false });
  await once(socket, "open");
  return socket;
}

/** Frame that a client of the floor sends. */
export const floorFrame = (ref: number): string => JSON.stringify([ref, createUuid(), createText(ref)]);

export async function makeFloorRig(name: string, mode: FloorMode, file: string): Promise<Rig> {
  const floor = await startFloor(mode, file);
  const rig = makeRelayRig(name, await connectToFloor(floor), await connectToFloor(floor));
  return {
    ...rig,
    close: async () => {
      await rig.close();
      await floor.stop();
    },
  };
}

/** Rig of two sockets to any server with the protocol of floors/relay.mjs. */
export function makeRelayRig(name: string, a: WebSocket, b: WebSocket): Rig {
  let delivered: (ref: number, at: number) => void = () => {};
  let acked: (ref: number, at: number) => void = () => {};
  b.on("message", (data) => {
    const at = performance.now();
    const frame = JSON.parse(data.toString()) as [string, number, number, string];
    delivered(parseRef(frame[3]), at);
  });
  a.on("message", (data) => {
    const at = performance.now();
    const frame = JSON.parse(data.toString()) as [string, number, number, number];
    acked(frame[1], at);
  });
  return {
    name,
    send: (ref) => {
      if (a.readyState !== WebSocket.OPEN || b.readyState !== WebSocket.OPEN)
        throw new Error(`${name}: a socket closed`);
      a.send(floorFrame(ref));
    },
    onDelivered: (listener) => {
      delivered = listener;
    },
    onAcked: (listener) => {
      acked = listener;
    },
    close: async () => {
      a.terminate();
      b.terminate();
    },
  };
}
