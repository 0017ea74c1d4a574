import type { Section } from "#bench/rig/table.ts";
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
import { compareTimes, comparisonColumns, timeRequest } from "./comparison.ts";

/** Whether the times of sign-in and recovery reveal who has an account: the same attempt for existing and unknown people. */

const people = 25;
const triesOfEach = 8; // 200 attempts for existing people, and as many for unknown ones
const mailsOfEach = 4; // maximum mails per address and hour

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

/** Alternates known and unknown, so that other load affects both alike. */
async function compareAttempt(site: Site, known: readonly KnownPerson[], attempt: TimedRequest): Promise<string[]> {
  const [knownMs, unknownMs]: [number[], number[]] = [[], []];
  const texts = new Set<string>();
  for (let round = 0; round < attempt.rounds; round++) {
    for (const [n, person] of known.entries()) {
      const pair = [
        { who: person, into: knownMs },
        { who: createUnknown(n), into: unknownMs },
      ];
      for (const { who, into } of (round + n) % 2 === 0 ? pair : pair.reverse()) {
        const { ms, status, text } = await timeRequest(site, "POST", attempt.path, { body: await attempt.body(who) });
        if (status !== attempt.status) throw new Error(`${attempt.name}: ${status} ${text}`);
        into.push(ms);
        texts.add(text);
      }
    }
  }
  if (texts.size !== 1) throw new Error(`${attempt.name}: responses differ between known and unknown`);
  return compareTimes(attempt.name, knownMs, unknownMs);
}

/** Known (first) numbers and addresses compared with unknown ones (second). */
export async function measureSignIn(site: Site): Promise<Section> {
  const known = await makeKnown(site);
  const rows: string[][] = [];
  for (const attempt of listTimedRequests(site)) rows.push(await compareAttempt(site, known, attempt));
  return {
    title: "Sign-in and recovery: how long the same answer takes for a known and an unknown person",
    columns: comparisonColumns,
    rows,
    notes: [
      `${people} people and as many numbers and addresses of nobody, by turns; each try from an address of its own, so that no limit answers.`,
      "Status, body and its length are the same, or the measurement fails. Aim: medians less than 10 ms apart.",
    ],
  };
}
