import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import type { OwnInvitation } from "#contract/names/invitation.ts";
import type { OwnLink } from "#contract/names/personal-link.ts";
import type { SettingsChange } from "#contract/settings/settings.ts";
import { type Call, makeCaptchaToken, type Person, phoneOf } from "#tests/support/people/people.ts";
import { takePersonNumber } from "#tests/worker/support/person-numbers.ts";
import { countDirectoryWork } from "#tests/worker/support/row-counter.ts";
import { makePerson, site } from "#tests/worker/support/site.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";

/** Calls the API and waits for the work after the answer, which counts too. */
const call = (method: string, path: string, options?: Call) => callWith({}, method, path, options);

/**
 * Existence of an account, as every command reveals it that takes a number, a handle, a link or the id of a person:
 * subjects of one class have the same status, body and statements (docs/decisions/existence-oracles.md).
 */

type Subject = { id: Uuid; phone: string; handle: string; link: string; invitation: string };
/** Nobody; an account that can be reached, with a verified number and without; one that takes nothing from strangers; one that blocks whoever asks. */
const kinds = ["none", "reachable", "unverified", "closed", "blocking"] as const;
type Kind = (typeof kinds)[number];

const noToken = "A".repeat(22);
let handles = 0;
const makeSubject = async (kind: Kind, me: Person): Promise<Subject> => {
  handles += 1;
  const handle = `oracle.${"abcdefghijklmnopqrstuvwxyz"[handles % 26]}${handles}x`;
  if (kind === "none")
    return { id: createUuid(), phone: phoneOf(takePersonNumber()), handle, link: noToken, invitation: noToken };
  const person = await makePerson();
  if (kind !== "unverified")
    await env.DB.prepare("UPDATE profiles SET verified_at = 1 WHERE id = ?").bind(person.id).run();
  const as = (method: string, path: string, body?: object) =>
    call(method, path, { token: person.token, ...(body && { body }) });
  expect((await as("PUT", "/api/handle", { handle })).status).toBe(200);
  const link = ((await as("POST", "/api/link")).body as OwnLink).link?.url.split("/").at(-1) ?? "";
  const own = (await as("POST", "/api/invitation")).body as OwnInvitation;
  const invitation = own.invitation?.url.split("/").at(-1) ?? "";
  const closed: SettingsChange = {
    findable: "nobody",
    requestsFrom: "nobody",
    groupAdds: "nobody",
    pictureTo: "nobody",
  };
  if (kind === "closed") await as("PATCH", "/api/settings", closed);
  if (kind === "blocking") await as("PUT", `/api/blocks/${me.id}`);
  return { id: person.id, phone: person.phone, handle, link, invitation };
};

type Command = {
  name: string;
  run: (me: Person, subject: Subject) => Promise<{ status: number; body: unknown }>;
  /** Kinds that cannot be told apart. */
  classes: Kind[][];
};

const post = (path: string, me: Person | undefined, body: object, headers: Record<string, string> = {}) =>
  call("POST", path, { ...(me && { token: me.token }), body, headers });
const anybody: Kind[] = [...kinds];
const commands: Command[] = [
  {
    name: "search by the whole number",
    run: (me, { phone }) => post("/api/people/search", me, { phone }),
    classes: [
      ["none", "closed"],
      ["reachable", "unverified", "blocking"],
    ],
  },
  {
    name: "look up a list of numbers",
    run: (me, { phone }) => post("/api/people/lookup", me, { phones: [phone] }),
    classes: [
      ["none", "closed"],
      ["reachable", "unverified", "blocking"],
    ],
  },
  {
    name: "search by handle",
    run: (me, { handle }) => post("/api/handles/search", me, { handle }),
    classes: [
      ["none", "blocking"],
      ["reachable", "unverified", "closed"],
    ],
  },
  {
    name: "open a personal link",
    run: (me, { link }) => post("/api/links/search", me, { token: link }),
    classes: [
      ["none", "blocking"],
      ["reachable", "unverified", "closed"],
    ],
  },
  {
    name: "accept an invitation",
    run: (me, { invitation }) => post("/api/invitations/accept", me, { token: invitation }),
    classes: [
      ["none", "blocking"],
      ["reachable", "unverified", "closed"],
    ],
  },
  {
    name: "sign in by number",
    run: (_, { phone }) =>
      post("/api/auth/token?grant_type=password", undefined, { phone, password: "Wrong2026" }, nextAddress()),
    classes: [anybody],
  },
  {
    name: "sign in by handle",
    run: (_, { handle }) =>
      post(
        "/api/auth/token?grant_type=password",
        undefined,
        { phone: `@${handle}`, password: "Wrong2026" },
        nextAddress(),
      ),
    classes: [anybody],
  },
  {
    name: "recover by code",
    run: async (_, { phone }) => {
      const headers = nextAddress();
      const captcha_token = await makeCaptchaToken(site, { action: "recover_by_code", subject: phone }, headers);
      const body = { phone, code: "AAAA-BBBB-CCCC", gotrue_meta_security: { captcha_token } };
      return post("/api/auth/recover/code", undefined, body, headers);
    },
    classes: [anybody],
  },
  {
    name: "request contact by id",
    run: (me, { id }) => post("/api/requests", me, { to_user_id: id }),
    classes: [["none"], ["reachable", "unverified", "blocking"], ["closed"]],
  },
  {
    name: "read a profile by id",
    run: (me, { id }) => call("GET", `/api/users/${id}`, { token: me.token }),
    classes: [anybody],
  },
  {
    name: "create a group with an id",
    run: (me, { id }) => post("/api/groups", me, { id: createUuid(), name: "Tous", members: [id] }),
    // An invitation to a group is limited and answered as a contact request is.
    classes: [["none"], ["reachable", "unverified", "blocking"], ["closed"]],
  },
  {
    name: "end a contact by id",
    run: (me, { id }) => call("DELETE", `/api/contacts/${id}`, { token: me.token }),
    classes: [anybody],
  },
  {
    name: "end a block that is not, by id",
    run: (me, { id }) => call("DELETE", `/api/blocks/${id}`, { token: me.token }),
    classes: [anybody],
  },
];

let address = 0;
const nextAddress = () => {
  address += 1;
  return { "cf-connecting-ip": `198.51.${100 + (address >> 8)}.${address & 255}` };
};

/** Answer without what identifies the subject or the moment, and without the mark of a verified number. */
const anonymize = ({ status, body }: { status: number; body: unknown }): string =>
  `${status} ${JSON.stringify(body)}`
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>")
    .replace(/\+\d{12}/g, "<phone>")
    .replace(',"verified":true', "")
    .replace(/\d{13}/g, "<time>")
    .replace(/oracle\.\w+/g, "<handle>")
    .replace(/Personne \d+/g, "<name>");

/** Rows of an account itself that a look-up by its number, handle or id finds. No other row may be read in addition. */
const ownRowsMax = 4;

for (const { name, run, classes } of commands) {
  test(`${name}: ${classes.map((one) => one.join(" = ")).join("; ")}`, async () => {
    const seen = new Map<Kind, { answer: string; statements: number; written: number }>();
    const rows: number[] = [];
    // The first one warms up what the commands share.
    for (const kind of [kinds[0], ...kinds]) {
      // A new asker each time: buckets and searches of the one before would be other work.
      const me = await makePerson();
      const subject = await makeSubject(kind, me);
      let answer = "";
      const { statements, read, written } = await countDirectoryWork(async () => {
        answer = anonymize(await run(me, subject));
      });
      seen.set(kind, { answer, statements, written });
      rows.push(read);
    }
    for (const [first, ...others] of classes) {
      if (first === undefined) throw new Error("an empty class");
      for (const other of others) expect([other, seen.get(other)]).toEqual([other, seen.get(first)]);
    }
    const distinct = new Set(classes.map(([first]) => first && seen.get(first)?.answer));
    expect(distinct.size).toBe(classes.length);
    if (classes.length === 1) expect(Math.max(...rows) - Math.min(...rows)).toBeLessThanOrEqual(ownRowsMax);
  });
}
