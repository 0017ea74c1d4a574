import { findInnerOrigin } from "#bench/rig/inner-origin.ts";
import { buildProduct } from "#bench/rig/product.ts";
import { computeRatio, median, percentile } from "#bench/rig/statistics.ts";
import { formatMilliseconds, formatRatio, type Section } from "#bench/rig/table.ts";
import type { ChallengeRequest } from "#contract/auth/proof-of-work.ts";
import {
  callSite,
  makeCaptchaToken,
  makePerson,
  type Person,
  type Site,
  testPassword,
} from "#tests/support/people/people.ts";
import { parseMail, readMails } from "#tests/support/server/mailbox.ts";
import { startServer } from "#tests/support/server/server.ts";

/** Whether response times reveal who has an account: the same attempt for existing and unknown people. */

const people = 25;
const triesOfEach = 8; // 200 attempts for existing people, and as many for unknown ones
const mailsOfEach = 4; // maximum mails per address and hour

let lastAddress = 0;

/** Sends each request from a different address, so that no rate limit applies. */
const toSite = (origin: string): Site => ({
  origin,
  fetch: (url, init) => {
    const n = ++lastAddress;
    const address = `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
    return fetch(url, { ...init, headers: { ...init.headers, "cf-connecting-ip": address } });
  },
});

type KnownPerson = Person & { email: string };
/** Kind of attempt, prepared in advance so that only the response is timed. */
type TimedRequest = {
  name: string;
  rounds: number;
  path: string;
  status: number;
  body: (person: Pick<KnownPerson, "phone" | "email">) => Promise<object>;
};

const createUnknown = (n: number): Pick<KnownPerson, "phone" | "email"> => ({
  phone: `+24382000${String(n).padStart(4, "0")}`,
  email: `personne-${n}@timing.example`,
});

/** Sets a recovery address through the regular flow. */
async function confirmAddress(site: Site, person: Person, email: string): Promise<void> {
  const change = await callSite(site, "PUT", "/api/auth/user", { token: person.token, body: { email } });
  if (change.status !== 200) throw new Error(`The recovery address was refused: ${JSON.stringify(change.body)}`);
  for (let waited = 0; waited < 5_000; waited += 20) {
    const [mail] = await readMails(site.origin, email);
    if (mail) {
      const body = { type: "email_change", token_hash: parseMail(mail).token };
      const answer = await callSite(site, "POST", "/api/auth/verify", { body });
      if (answer.status === 200) return;
      throw new Error(`The recovery address was not confirmed: ${JSON.stringify(answer.body)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("No mail arrived");
}

async function makeKnown(site: Site): Promise<KnownPerson[]> {
  const made: KnownPerson[] = [];
  for (let n = 0; n < people; n++) {
    const person = await makePerson(site, 5_000 + n);
    const email = `connue-${n}@timing.example`;
    await confirmAddress(site, person, email);
    const codes = await callSite(site, "POST", "/api/auth/recovery-codes", { token: person.token });
    if (codes.status !== 200) throw new Error(`Recovery codes were refused: ${JSON.stringify(codes.body)}`);
    made.push({ ...person, email });
  }
  return made;
}

const createProof = async (site: Site, purpose: ChallengeRequest) => ({
  gotrue_meta_security: { captcha_token: await makeCaptchaToken(site, purpose) },
});

const listTimedRequests = (site: Site): TimedRequest[] => [
  {
    name: "logging in with a wrong password",
    rounds: triesOfEach,
    path: "/api/auth/token?grant_type=password",
    status: 400,
    body: async ({ phone }) => ({
      phone,
      password: `${testPassword}x`,
      ...(await createProof(site, { action: "sign_in", subject: phone })),
    }),
  },
  {
    name: "asking for a recovery mail",
    rounds: mailsOfEach,
    path: "/api/auth/recover",
    status: 200,
    body: async ({ email }) => ({ email, ...(await createProof(site, { action: "recover", subject: email })) }),
  },
  {
    name: "showing a wrong recovery code",
    rounds: triesOfEach,
    path: "/api/auth/recover/code",
    status: 400,
    body: async ({ phone }) => ({
      phone,
      code: "AAAAA-AAAAA-AAAAA-AAAAA",
      ...(await createProof(site, { action: "recover_by_code", subject: phone })),
    }),
  },
];

/** Time of the complete response, and its text, which must not depend on the account. */
async function timeRequest(
  site: Site,
  attempt: TimedRequest,
  person: Pick<KnownPerson, "phone" | "email">,
): Promise<{ ms: number; text: string }> {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(await attempt.body(person)),
  };
  const started = performance.now();
  const response = await site.fetch(site.origin + attempt.path, init);
  const text = await response.text();
  const ms = performance.now() - started;
  if (response.status !== attempt.status) throw new Error(`${attempt.name}: ${response.status} ${text}`);
  return { ms, text };
}

/** Alternates known and unknown, so that other load affects both alike. */
async function compareTimes(site: Site, known: readonly KnownPerson[], attempt: TimedRequest): Promise<string[]> {
  const [knownMs, unknownMs]: [number[], number[]] = [[], []];
  const texts = new Set<string>();
  for (let round = 0; round < attempt.rounds; round++) {
    for (const [n, person] of known.entries()) {
      const pair = [
        { who: person, into: knownMs },
        { who: createUnknown(n), into: unknownMs },
      ];
      for (const { who, into } of (round + n) % 2 === 0 ? pair : pair.reverse()) {
        const { ms, text } = await timeRequest(site, attempt, who);
        into.push(ms);
        texts.add(text);
      }
    }
  }
  if (texts.size !== 1) throw new Error(`${attempt.name}: responses differ between known and unknown`);
  const { ratio } = computeRatio(knownMs, unknownMs);
  const difference = median(knownMs) - median(unknownMs);
  return [
    attempt.name,
    String(knownMs.length),
    formatMilliseconds(median(knownMs)),
    formatMilliseconds(median(unknownMs)),
    `${difference < 0 ? "−" : "+"}${formatMilliseconds(Math.abs(difference))}`,
    formatRatio(median(knownMs) / median(unknownMs)),
    formatRatio(ratio),
    `${formatMilliseconds(percentile(knownMs, 0.1))} / ${formatMilliseconds(percentile(unknownMs, 0.1))}`,
    `${formatMilliseconds(percentile(knownMs, 0.9))} / ${formatMilliseconds(percentile(unknownMs, 0.9))}`,
  ];
}

/** Response times for known numbers or addresses compared with unknown ones. */
export async function measureTiming(): Promise<Section[]> {
  buildProduct();
  const server = await startServer();
  try {
    const outer = toSite(server.origin);
    const known = await makeKnown(outer);
    const inner = await findInnerOrigin(server.port, "/api/health");
    const site = toSite(inner ?? server.origin);
    const rows: string[][] = [];
    for (const attempt of listTimedRequests(site)) rows.push(await compareTimes(site, known, attempt));
    return [
      {
        title: "Known or unknown: how long the same answer takes",
        columns: ["", "tries each", "known", "unknown", "apart", "of medians", "of pairs", "10 %", "90 %"],
        rows,
        notes: [
          `${people} people and as many numbers and addresses of nobody, by turns; each try from an address of its own, so that no limit answers.`,
          "Status, body and its length are the same, or the measurement fails. Aim: medians less than 10 ms apart.",
        ],
      },
    ];
  } finally {
    await server.stop();
  }
}
