// Attacking client in a process of its own: it receives a stage, attacks for the given time, reports its counts and
// exits without closing its sockets. Started by bench/attacks/attacker.ts.
import { Agent, request } from "node:http";
import WebSocket from "ws";
import { joinFrames, protocolVersion } from "#contract/wire/server-frames.ts";
import { writeWireFrame } from "#tests/support/wire-frames.ts";
import { type FrameAttack, frameAttacks, getFramesPerMessage } from "./frame-attacks.ts";
import { type AttackRequest, type HttpAttack, httpAttacks } from "./http-attacks.ts";
import { type AttackReport, reconnectStorm, type Stage } from "./stage.ts";

const socketsAtOnce = 4;
const defaultRequestsAtOnce = 32;
/** Maximum unsent bytes per socket; more would only fill this process. */
const unsentMaxBytes = 512 * 1024;
const reconnectMs = 100;

const report: AttackReport = { sent: 0, answered: 0, refused: 0, cut: 0, hashes: 0 };
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function openSocket({ origin, address, attacker }: Stage): Promise<WebSocket | undefined> {
  const socket = new WebSocket(`${origin.replace("http", "ws")}/api/socket`, {
    perMessageDeflate: false,
    headers: { authorization: `Bearer ${attacker.token}`, origin, "cf-connecting-ip": address },
  });
  return new Promise((resolve) => {
    const fail = () => {
      report.cut++;
      socket.terminate();
      resolve(undefined);
    };
    socket.once("open", () => {
      socket.removeAllListeners("error");
      socket.on("error", () => {});
      socket.send(writeWireFrame(["h", protocolVersion, "", 0]));
      resolve(socket);
    });
    socket.once("unexpected-response", fail);
    socket.once("error", fail);
  });
}

function countAnswer(data: string): void {
  report.answered++;
  if (data.startsWith('["n"') || data.startsWith('["x"')) report.refused++;
}

/** Sends frames on one socket as fast as the network accepts them, and opens a new one when it closes. */
async function sendFrames(stage: Stage, attack: FrameAttack, until: number): Promise<void> {
  const framesPerMessage = getFramesPerMessage(attack);
  const isDone = () => performance.now() > until || report.sent >= (attack.count ?? Number.POSITIVE_INFINITY);
  while (!isDone()) {
    const socket = await openSocket(stage);
    if (!socket) {
      await sleep(reconnectMs);
      continue;
    }
    socket.on("message", (data) => countAnswer(String(data)));
    socket.once("close", () => report.cut++);
    if (attack.prepare) socket.send(writeWireFrame(attack.prepare(stage)));
    while (!isDone() && socket.readyState === WebSocket.OPEN) {
      const frames: string[] = [];
      for (let i = 0; i < framesPerMessage; i++) {
        const frame = attack.make(stage, ++report.sent);
        frames.push(typeof frame === "string" ? frame : writeWireFrame(frame));
      }
      for (const text of framesPerMessage === 1 ? frames : joinFrames(frames)) socket.send(text);
      do await new Promise(setImmediate);
      while (
        socket.readyState === WebSocket.OPEN &&
        socket.bufferedAmount > unsentMaxBytes &&
        performance.now() < until
      );
    }
  }
}

/** Opens sockets and sends a hello on each, one after the other. */
async function reconnect(stage: Stage, until: number): Promise<void> {
  while (performance.now() < until) {
    const socket = await openSocket(stage);
    report.sent++;
    if (socket) {
      await new Promise((resolve) => {
        socket.once("message", (data) => resolve(countAnswer(String(data))));
        socket.once("close", resolve);
      });
      socket.terminate();
    } else await sleep(1);
  }
}

function sendHttpRequest(
  { origin, address, attacker }: Stage,
  agent: Agent,
  attackRequest: AttackRequest,
  hashesPerAttempt = 0,
): Promise<void> {
  const body =
    attackRequest.bytes ??
    (attackRequest.body === undefined ? undefined : Buffer.from(JSON.stringify(attackRequest.body)));
  const headers: Record<string, string | number> = {
    "cf-connecting-ip": address,
    ...(attackRequest.isAnonymous ? {} : { authorization: `Bearer ${attacker.token}` }),
    ...(body ? { "content-length": body.length } : {}),
    ...(body ? { "content-type": attackRequest.bytes ? "application/octet-stream" : "application/json" } : {}),
    ...attackRequest.headers,
  };
  return new Promise((resolve) => {
    const fail = () => {
      report.cut++;
      resolve();
    };
    const sent = request(origin + attackRequest.path, { method: attackRequest.method, agent, headers }, (answer) => {
      report.answered++;
      if ((answer.statusCode ?? 0) >= 400) report.refused++;
      let text = "";
      answer.on("data", (chunk) => {
        if (hashesPerAttempt > 0) text += chunk;
      });
      answer.once("error", fail).once("end", () => {
        if (text.includes('"invalid_credentials"')) report.hashes += hashesPerAttempt;
        resolve();
      });
    });
    sent.once("error", fail).end(body);
  });
}

async function sendRequests(stage: Stage, attack: HttpAttack, until: number): Promise<void> {
  const { atOnce: length = defaultRequestsAtOnce } = attack;
  const agent = new Agent({ keepAlive: true, maxSockets: length });
  if (attack.prepare) await sendHttpRequest(stage, agent, attack.prepare(stage));
  const sendRepeatedly = async () => {
    while (performance.now() < until && report.sent < (attack.count ?? Number.POSITIVE_INFINITY)) {
      await sendHttpRequest(stage, agent, attack.make(stage, ++report.sent), attack.hashesPerAttempt);
    }
  };
  await Promise.all(Array.from({ length }, sendRepeatedly));
}

async function runStage(stage: Stage): Promise<void> {
  const until = performance.now() + stage.seconds * 1_000;
  const frames = frameAttacks.find(({ name }) => name === stage.attack);
  const requests = httpAttacks.find(({ name }) => name === stage.attack);
  const inParallel = (work: () => Promise<void>) => Promise.all(Array.from({ length: socketsAtOnce }, work));
  if (frames) await inParallel(() => sendFrames(stage, frames, until));
  if (requests) await sendRequests(stage, requests, until);
  if (stage.attack === reconnectStorm) await inParallel(() => reconnect(stage, until));
  await sleep(Math.max(1, until - performance.now()));
}

process.once("message", async (stage) => {
  const one = stage as Stage;
  const finish = () => process.send?.(report, () => process.exit(0));
  await httpAttacks.find(({ name }) => name === one.attack)?.setUp?.(one);
  process.send?.("ready");
  // Requests without a response are abandoned.
  setTimeout(finish, one.seconds * 1_000);
  void runStage(one).then(finish);
});
