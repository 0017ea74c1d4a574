import { randomBytes } from "node:crypto";
import type { Section } from "#bench/rig/table.ts";
import { createUuid } from "#contract/ids.ts";
import type { OwnInvitation } from "#contract/names/invitation.ts";
import type { OwnLink } from "#contract/names/personal-link.ts";
import { type Answer, callSite, makePerson, type Person, type Site } from "#tests/support/people/people.ts";
import { compareTimes, comparisonColumns, type TimedAnswer, timeRequest } from "./comparison.ts";

/**
 * Whether the times of commands that take a number, handle, link or id reveal more than their answers
 * (docs/decisions/existence-oracles.md, whose classes a worker test compares by status, body and counted work).
 */

const rounds = 20;

/** Nobody, an account that can be reached, one that takes nothing from strangers, and one that blocks whoever asks. */
type Kind = "nobody" | "reachable" | "closed" | "blocking";
/** Of the first two kinds there are two subjects each: how far apart their times are is the noise of this run. */
const subjectKinds: readonly Kind[] = ["nobody", "nobody", "reachable", "reachable", "closed", "blocking"];
type Subject = { kind: Kind; id: string; phone: string; handle: string; link: string; invitation: string };

let people = 0;
const createPerson = (site: Site): Promise<Person> => makePerson(site, 6_000 + people++);

async function expectAnswer(site: Site, method: string, path: string, call: object): Promise<Answer> {
  const answer = await callSite(site, method, path, call);
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer;
}

const createToken = (): string => randomBytes(16).toString("base64url");

async function createSubject(site: Site, kind: Kind, n: number, askers: readonly Person[]): Promise<Subject> {
  const handle = `timing.${[...String(n)].map((digit) => "abcdefghij"[Number(digit)]).join("")}.x`;
  if (kind === "nobody") {
    const phone = `+24382001${String(n).padStart(4, "0")}`;
    return { kind, id: createUuid(), phone, handle, link: createToken(), invitation: createToken() };
  }
  const person = await createPerson(site);
  const as = (method: string, path: string, body?: object) =>
    expectAnswer(site, method, path, { token: person.token, ...(body && { body }) });
  await as("PUT", "/api/handle", { handle });
  const link = ((await as("POST", "/api/link")).body as OwnLink).link?.url.split("/").at(-1) ?? "";
  const own = (await as("POST", "/api/invitation")).body as OwnInvitation;
  const invitation = own.invitation?.url.split("/").at(-1) ?? "";
  if (kind === "closed") {
    const closed = { findable: "nobody", requestsFrom: "nobody", groupAdds: "nobody", pictureTo: "nobody" };
    await as("PATCH", "/api/settings", closed);
  }
  if (kind === "blocking") for (const asker of askers) await as("PUT", `/api/blocks/${asker.id}`);
  return { kind, id: person.id, phone: person.phone, handle, link, invitation };
}

type Command = {
  name: string;
  run: (site: Site, token: string, subject: Subject) => Promise<TimedAnswer>;
  /** Kinds that cannot be told apart. The first is the one the others are compared with. */
  classes: Kind[][];
};

const post = (path: string, toBody: (subject: Subject) => object): Command["run"] => {
  return (site, token, subject) => timeRequest(site, "POST", path, { token, body: toBody(subject) });
};
const byNumber: Kind[][] = [
  ["nobody", "closed"],
  ["reachable", "blocking"],
];
const byChoice: Kind[][] = [
  ["nobody", "blocking"],
  ["reachable", "closed"],
];
const byId: Kind[][] = [["nobody", "reachable", "closed", "blocking"]];
const commands: Command[] = [
  { name: "search by number", classes: byNumber, run: post("/api/people/search", ({ phone }) => ({ phone })) },
  { name: "look up numbers", classes: byNumber, run: post("/api/people/lookup", ({ phone }) => ({ phones: [phone] })) },
  { name: "search by handle", classes: byChoice, run: post("/api/handles/search", ({ handle }) => ({ handle })) },
  { name: "open a link", classes: byChoice, run: post("/api/links/search", ({ link }) => ({ token: link })) },
  {
    name: "read a profile",
    classes: byId,
    run: (site, token, { id }) => timeRequest(site, "GET", `/api/users/${id}`, { token }),
  },
  {
    name: "end a contact",
    classes: byId,
    run: (site, token, { id }) => timeRequest(site, "DELETE", `/api/contacts/${id}`, { token }),
  },
  {
    name: "accept an invitation",
    classes: byChoice,
    run: post("/api/invitations/accept", ({ invitation }) => ({ token: invitation })),
  },
  {
    name: "request a contact",
    classes: [["reachable", "blocking"]],
    run: post("/api/requests", ({ id }) => ({ to_user_id: id })),
  },
  {
    name: "create a group",
    classes: [["reachable", "blocking"]],
    run: post("/api/groups", ({ id }) => ({ id: createUuid(), name: "Tous", members: [id] })),
  },
];

/** Answer without what identifies the subject or the moment. */
const anonymize = ({ status, text }: TimedAnswer): string =>
  `${status} ${text}`
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>")
    .replace(/\+\d{12}/g, "<phone>")
    .replace(/\d{13}/g, "<time>")
    .replace(/timing\.[a-j]+\.x/g, "<handle>")
    .replace(/Personne \d+/g, "<name>");

/** Command asked about the subjects of one class, by an asker of its own: what it changes affects no other. */
type Comparison = { command: Command; kinds: readonly Kind[]; samples: Sample[][] };
/** Answer about each subject, in the order of `subjectKinds`. */
type Sample = { ms: number; answer: string };

/** A round of new people. The subjects are asked about in an order that differs from round to round. */
async function runRound(site: Site, round: number, comparisons: readonly Comparison[]): Promise<void> {
  const askers: Person[] = [];
  for (const _ of comparisons) askers.push(await createPerson(site));
  const subjects: Subject[] = [];
  for (const [n, kind] of subjectKinds.entries()) {
    subjects.push(await createSubject(site, kind, round * subjectKinds.length + n, askers));
  }
  for (const [index, { command, kinds, samples }] of comparisons.entries()) {
    const asked = [...subjects.entries()].filter(([, { kind }]) => kinds.includes(kind));
    const start = round % asked.length;
    const order = [...asked.slice(start), ...asked.slice(0, start)];
    const bySubject: Sample[] = [];
    for (const [n, subject] of round % 2 === 0 ? order : order.reverse()) {
      const answer = await command.run(site, askers[index]?.token ?? "", subject);
      bySubject[n] = { ms: answer.ms, answer: anonymize(answer) };
    }
    samples.push(bySubject);
  }
}

/** Rows of a class: the noise (two subjects of its first kind), then each other kind beside the first. */
function compareKinds({ command: { name }, kinds, samples }: Comparison): string[][] {
  const [first, ...others] = kinds;
  if (first === undefined) throw new Error("an empty class");
  const answers = new Set(samples.flatMap((round) => round.flatMap(({ answer }) => answer)));
  if (answers.size !== 1)
    throw new Error(`${name}: answers to ${kinds.join(", ")} differ: ${[...answers].join(" | ")}`);
  const listTimes = (n: number): number[] => samples.map((round) => round[n]?.ms ?? Number.NaN);
  const times = listTimes(subjectKinds.indexOf(first));
  return [
    compareTimes(`${name}: ${first} twice (noise)`, listTimes(subjectKinds.lastIndexOf(first)), times),
    ...others.map((kind) => compareTimes(`  ${kind}, ${first}`, listTimes(subjectKinds.indexOf(kind)), times)),
  ];
}

/** Subjects of one class compared with each other. */
export async function measureExistence(site: Site): Promise<Section> {
  const comparisons = commands.flatMap((command) =>
    command.classes.map((kinds): Comparison => ({ command, kinds, samples: [] })),
  );
  for (let round = 0; round < rounds; round++) await runRound(site, round, comparisons);
  return {
    title: "Commands about a person: how long the same answer takes, whoever it is about",
    columns: comparisonColumns,
    rows: comparisons.flatMap(compareKinds),
    notes: [
      `${rounds} rounds of new people. Status and body of a class are the same, or the measurement fails.`,
      "Aim: medians less than 10 ms apart. What is as far apart as the noise cannot be told from it.",
    ],
  };
}
