import type { Person } from "#bench/rig/person.ts";
import { findRuntimePid, readCpuMs, readMemoryMb, readPeakMemoryMb, resetPeakMemory } from "#bench/rig/runtime.ts";
import { median } from "#bench/rig/statistics.ts";
import { formatRatio, type Section } from "#bench/rig/table.ts";
import { filePath, partBytes, partCount, partPath } from "#contract/files.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { filePartBytes, filePartsAtOnce } from "#contract/limits/files.ts";
import type { GeneratedFile } from "#tests/support/files/hostile-files.ts";
import { callSite, connectPeople } from "#tests/support/people/people.ts";
import { seedUsers } from "#tests/support/server/seeded-users.ts";
import { type Server, startServer } from "#tests/support/server/server.ts";
import { Bystanders, type Probe } from "./bystanders.ts";
import { fileAttacks } from "./file-attacks.ts";
import { renewToken } from "./scene.ts";

/** What completing the upload of a hostile file costs the server, and what others notice of it. */

const fileBytes = 24 * 1024 * 1024;
const bystanderCount = 8;
const uploadersAtOnce = 6;
const idleMs = 4_000;
/** Half the time in which an account may upload the next such file. */
const watchedMs = 10_000;
const bytesPerMb = 1_000_000;

type Upload = { attack: GeneratedFile; person: Person; file: Uuid; size: number };

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function uploadParts({ origin, token }: Person, file: Uuid, bytes: Buffer): Promise<void> {
  let next = 0;
  const uploadNext = async (): Promise<void> => {
    for (let part = next++; part < partCount(bytes.length); part = next++) {
      const from = part * filePartBytes;
      const init = {
        method: "PUT",
        headers: { authorization: `Bearer ${token}` },
        body: new Uint8Array(bytes.subarray(from, from + partBytes(bytes.length, part))),
      };
      let response = await fetch(origin + partPath(file, part), init);
      while (response.status === 429) {
        await pause(1_000);
        response = await fetch(origin + partPath(file, part), init);
      }
      if (response.status !== 204) throw new Error(`a part was refused: ${response.status} ${await response.text()}`);
    }
  };
  await Promise.all(Array.from({ length: filePartsAtOnce }, uploadNext));
}

async function uploadFile(person: Person, attack: GeneratedFile): Promise<Upload> {
  const bytes = attack.make(fileBytes);
  const file = createUuid();
  const { origin, token } = person;
  const body = { name: "x.bin", size: bytes.length };
  const { status } = await callSite({ origin, fetch }, "PUT", filePath(file), { token, body });
  if (status !== 200) throw new Error(`a file was refused: ${status}`);
  await uploadParts(person, file, bytes);
  return { attack, person, file, size: bytes.length };
}

const listTimes = (probes: readonly Probe[]): number[] =>
  probes.filter(({ kind }) => kind === "message").map(({ receivedMs }) => receivedMs ?? Number.POSITIVE_INFINITY);

/** Completes an upload. Returns the row of its costs. */
async function measureCompletion(
  server: Server,
  { attack, person, file, size }: Upload,
  bystanders: Bystanders,
): Promise<string[]> {
  const pid = findRuntimePid(server.port);
  if (pid === undefined) throw new Error("Costs of files can only be measured on Linux");
  const idleFrom = performance.now();
  const idleCpu = readCpuMs(pid);
  await pause(idleMs);
  const from = performance.now();
  const idleCpuPerMs = (readCpuMs(pid) - idleCpu) / (from - idleFrom);
  resetPeakMemory(pid);
  const [cpu, memory] = [readCpuMs(pid), readMemoryMb(pid)];
  const { origin } = server;
  const { token } = person;
  const answer = await callSite({ origin, fetch }, "POST", `${filePath(file)}/complete`, { token });
  const to = performance.now();
  const cpuMs = readCpuMs(pid) - cpu - idleCpuPerMs * (to - from);
  const beyondMb = readPeakMemoryMb(pid) - memory - size / bytesPerMb;
  await pause(Math.max(0, from + watchedMs - to));
  const watchedTo = performance.now();
  await pause(1_000); // messages that are still under way
  const [idle, attacked] = [
    median(listTimes(bystanders.listProbes(idleFrom, from - 500))),
    median(listTimes(bystanders.listProbes(from, watchedTo))),
  ];
  return [
    attack.name,
    (size / bytesPerMb).toFixed(1),
    answer.status === 200 ? "accepted" : (answer.body as { error_code: string }).error_code,
    (to - from).toFixed(0),
    cpuMs.toFixed(0),
    beyondMb.toFixed(0),
    idle.toFixed(1),
    attacked.toFixed(1),
    formatRatio(attacked / idle),
  ];
}

/** Files whose names contain one of these words, or all. */
export async function measureFileAttacks(words: readonly string[]): Promise<Section> {
  const attacks = fileAttacks.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  const server = await startServer({ vars: { LOCAL_LIMIT_FACTOR: "1" } });
  try {
    const { origin } = server;
    const [, ...crowd] = await seedUsers(server, 1 + bystanderCount + attacks.length);
    const watching = crowd.slice(0, bystanderCount);
    for (let i = 0; i < bystanderCount; i += 2) {
      const [one, other] = watching.slice(i);
      if (one && other) await connectPeople({ origin, fetch }, one, other);
    }
    const rows: string[][] = [];
    for (let start = 0; start < attacks.length; start += uploadersAtOnce) {
      const uploads = await Promise.all(
        attacks.slice(start, start + uploadersAtOnce).map(async (attack, i) => {
          const person = crowd[bystanderCount + start + i];
          if (!person) throw new Error("too few people");
          return uploadFile({ ...person, origin, token: await renewToken(server, person) }, attack);
        }),
      );
      const people = await Promise.all(
        watching.map(async (person) => ({ ...person, origin, token: await renewToken(server, person) })),
      );
      const bystanders = new Bystanders(people);
      try {
        await bystanders.start();
        await pause(1_000);
        for (const upload of uploads) {
          const row = await measureCompletion(server, upload, bystanders);
          console.log(row.join(" | "));
          rows.push(row);
        }
      } finally {
        bystanders.stop();
      }
    }
    return {
      title: "What completing the upload of a hostile file costs: milliseconds and megabytes",
      columns: ["", "MB", "answer", "answered", "processor", "beyond", "idle", "meanwhile", "ratio"],
      rows,
      notes: [
        "processor: of the runtime, without what it spends on bystanders when idle. beyond: its largest memory, above that before and the file; it includes what the runtime's simulation of R2 holds, so compare it with the honest files. Aim: at most 1,000 ms and 64 MB more than an honest file of the same size.",
        "idle, meanwhile: median of messages between eight bystanders, before the completion and in the ten seconds from its start; an account may upload such a file every twenty. Aim: at most 2×.",
      ],
    };
  } finally {
    await server.stop();
  }
}
