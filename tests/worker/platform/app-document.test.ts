import { env } from "cloudflare:workers";
import * as v from "valibot";
import { expect, test } from "vitest";
import { privateConversationId } from "#contract/ids.ts";
import { DocumentData } from "#contract/wire/document/document-data.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { ASSETS, staticPage } from "#tests/worker/support/app-template.ts";
import { readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeFriends, makeGroup } from "#tests/worker/support/make-group.ts";
import { makePerson, site } from "#tests/worker/support/site.ts";
import { revokeSessions } from "#worker/auth/sessions/sessions.ts";
import { openDb } from "#worker/db/client.ts";
import { accessCookie, refreshCookie } from "#worker/lib/http/cookies.ts";
import { serveAppDocument } from "#worker/service/app-document/serve.ts";

const open = async (
  path: string,
  cookies: Record<string, string>,
  headers: Record<string, string> = {},
  bindings: object = {},
) => {
  const cookie = Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join("; ");
  const request = new Request(`https://lisolo.test${path}`, {
    headers: { "sec-fetch-mode": "navigate", "accept-language": "fr", cookie, ...headers },
  });
  const response = await serveAppDocument(request, { ...env, ASSETS, ...bindings } as unknown as Env);
  const html = await response.text();
  const [, json] = /<script id="first-data">(.*)<\/script>/s.exec(html) ?? [];
  return {
    html,
    headers: response.headers,
    data: json === undefined ? undefined : v.parse(DocumentData, JSON.parse(json)),
  };
};

const asOwner = ({ token, refreshToken }: Person) => ({ [accessCookie]: token, [refreshCookie]: refreshToken });

const makeChat = async (...texts: string[]) => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  await connectPeople(site, ana, ben);
  const conversation = privateConversationId(ana.id, ben.id);
  await sendTexts(ana, conversation, ...texts);
  return { ana, ben, conversation };
};

test("the list's document contains the person's conversations, in their language, and the data of the first request", async () => {
  const { ana, ben, conversation } = await makeChat("salut <b>Ben</b> & co");
  const { html, headers, data } = await open("/app", asOwner(ben), { cookie: `lang=pt; ${accessCookie}=${ben.token}` });
  expect(html).toContain('<html lang="pt">');
  expect(html).toContain(ana.username);
  expect(html).toContain("salut &lt;b&gt;Ben&lt;/b&gt; &amp; co");
  expect(html).toContain(`href="/app/chat/${ana.id}"`);
  expect(headers.get("cache-control")).toBe("private, no-store");
  expect(headers.get("content-security-policy")).toContain("'sha256-script'");
  expect(data?.user).toBe(ben.id);
  expect(data?.profile?.username).toBe(ben.username);
  expect(data?.changes.rows.map((row) => row.conversation)).toEqual([conversation]);
});

test("a chat's document contains its newest messages, with ticks, and only the icons it shows", async () => {
  const { ana, ben, conversation } = await makeChat("un", "deux", "</script><script>alert(1)</script>");
  const { html, data } = await open(`/app/chat/${ben.id}`, asOwner(ana));
  expect(html).toContain(`data-conversation="${conversation}"`);
  expect(html.indexOf("deux")).toBeGreaterThan(html.indexOf(">un<"));
  expect(html).toContain(".i-ph-check-bold{}");
  expect(html).not.toContain(".i-ph-unused{}");
  expect(html).not.toContain("<script>alert");
  expect(data?.page?.result.messages.map(({ body }) => "text" in body && body.text)).toEqual([
    "</script><script>alert(1)</script>",
    "deux",
    "un",
  ]);
});

test("a group's document names the senders of its messages", async () => {
  const [owner, member] = await makeFriends(2);
  const group = "01890000-0000-7000-8000-0000000f1057";
  await makeGroup(owner, "Famille", member ? [member] : [], group);
  await sendTexts(owner, group, "bonjour à tous");
  const { html, data } = await open(`/app/group/${group}`, { [accessCookie]: member?.token ?? "" });
  expect(html).toContain("bonjour à tous");
  expect(html).toContain("Famille");
  expect(data?.members?.group).toBe(group);
});

test("the document of a group that its reader left has the history and nothing later, and no composer", async () => {
  const [owner, member] = await makeFriends(2);
  if (!member) throw new Error("too few");
  const group = "01890000-0000-7000-8000-0000000f1058";
  await makeGroup(owner, "Famille", [member], group);
  await sendTexts(owner, group, "bonjour à tous");
  const path = `/api/groups/${group}/members/${member.id}`;
  expect(
    (await site.fetch(site.origin + path, { method: "DELETE", headers: { authorization: `Bearer ${owner.token}` } }))
      .status,
  ).toBe(204);
  await waitUntil(async () => !(await readRow(member, group)).open);
  await sendTexts(owner, group, "sans lui");
  const { html, data } = await open(`/app/group/${group}`, { [accessCookie]: member.token });
  expect(html).not.toContain("<textarea");
  expect(html).not.toContain("sans lui");
  expect(data?.page?.result.messages.map(({ seq }) => seq)).toEqual([3, 2, 1]);
});

test("times are those of the device's time zone", async () => {
  const { ana, ben } = await makeChat("l'heure");
  const format = (timeZone: string) =>
    new Intl.DateTimeFormat("fr-FR", { hour: "2-digit", minute: "2-digit", timeZone });
  for (const timeZone of ["Pacific/Kiritimati", "America/New_York"]) {
    const { html, data } = await open(`/app/chat/${ben.id}`, { ...asOwner(ana), tz: encodeURIComponent(timeZone) });
    const at = data?.page?.result.messages[0]?.at ?? 0;
    expect(html).toContain(`<time>${format(timeZone).format(at)}</time>`);
  }
});

test("a malformed or unknown time zone does not cost the content", async () => {
  const { ana, ben } = await makeChat("sans fuseau");
  for (const tz of ["%", "Nowhere%2FAtAll", ""])
    expect((await open(`/app/chat/${ben.id}`, { ...asOwner(ana), tz })).html).toContain("sans fuseau");
});

test("the tabs count the unread messages of all conversations", async () => {
  const { ben } = await makeChat("un", "deux", "trois");
  const cleo = await makePerson();
  await connectPeople(site, cleo, ben);
  await sendTexts(cleo, privateConversationId(cleo.id, ben.id), "quatre", "cinq");
  const { html } = await open("/app", asOwner(ben));
  expect(html).toContain("5 messages non lus");
});

test("an expired access token leaves the refresh token, which is not used up", async () => {
  const { ben } = await makeChat("encore là");
  for (let n = 0; n < 2; n++)
    expect((await open("/app", { [refreshCookie]: ben.refreshToken })).html).toContain("encore là");
  expect((await open("/app", { [refreshCookie]: `${ben.refreshToken.slice(0, -2)}AA` })).html).toBe(staticPage);
});

test("nobody without a session of their own gets content", async () => {
  const { ana, ben } = await makeChat("secret");
  const stranger = await makePerson();
  const { html, headers } = await open("/app", {});
  expect(html).toBe(staticPage);
  expect(headers.get("content-type")).toBe("text/html");
  expect(headers.get("cache-control")).toBe("private, no-store"); // WebKit would freeze it with an open transaction
  expect((await open("/app", { [accessCookie]: "not a token", [refreshCookie]: "nor this" })).html).toBe(staticPage);
  for (const path of ["/app", `/app/chat/${ben.id}`, `/app/chat/${ana.id}`]) {
    const { html, data } = await open(path, asOwner(stranger));
    expect(html).not.toContain("secret");
    expect(JSON.stringify(data ?? {})).not.toContain("secret");
  }
  await revokeSessions(openDb(env), ana.id, "all");
  expect((await open("/app", asOwner(ana))).html).toBe(staticPage);
});

test("requests other than opening a page, and other screens, get the page without content", async () => {
  const { ben } = await makeChat("ici");
  expect((await open("/app", asOwner(ben), { "sec-fetch-mode": "cors" })).html).toBe(staticPage);
  expect((await open("/app", asOwner(ben), { "sec-purpose": "prefetch" })).html).toBe(staticPage);
  for (const path of ["/app/profile", "/app/chat/not-an-id", `/app/chat/${ben.id}`, "/app/tala"])
    expect((await open(path, asOwner(ben))).html).toBe(staticPage);
});

test("objects that do not answer in time leave the page without content", async () => {
  const { ben } = await makeChat("lent");
  const slow = { getByName: () => ({ execute: () => new Promise(() => {}) }) };
  const request = new Request("https://lisolo.test/app", {
    headers: { "sec-fetch-mode": "navigate", cookie: `${accessCookie}=${ben.token}` },
  });
  const response = await serveAppDocument(request, { ...env, ASSETS, USER_CHANNEL: slow } as unknown as Env);
  expect(await response.text()).toBe(staticPage);
});

test("pinned conversations stand on top, archived ones behind the row above the list, and only what is not archived counts", async () => {
  const [ana, ...others] = [await makePerson(), await makePerson(), await makePerson(), await makePerson()] as const;
  const chats = others.map(({ id }) => privateConversationId(ana.id, id));
  for (const [index, one] of others.entries()) {
    await connectPeople(site, one, ana);
    await sendTexts(one, chats[index] ?? "", `de ${index}`);
  }
  const [first = "", second = "", third = ""] = chats;
  const setFlags = (conversation: string, flags: { pinned: true } | { archived: true }) =>
    request(ana, { type: "setConversationFlags", conversation, ...flags });
  await waitUntil(async () => (await readRow(ana, third)).unread === 1);
  await setFlags(first, { pinned: true });
  await setFlags(second, { archived: true });
  const { html, data } = await open("/app", asOwner(ana));
  const shown = [...html.matchAll(/>(de \d)</g)].map(([, text]) => text);
  expect(shown).toEqual(["de 0", "de 2"]);
  expect(html).toContain("i-ph-push-pin-fill");
  expect(html).toMatch(/i-ph-archive.*Archivées/s);
  expect(html).toContain("2 messages non lus");
  expect(data?.changes.rows.find(({ conversation }) => conversation === second)).toMatchObject({ archived: true });
});

/** Changes one byte of a token. */
const damage = (token: string, at: number): string => {
  const bytes = Buffer.from(token, "base64url");
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes.toString("base64url");
};

test("forged cookies read nothing from the directory", async () => {
  const ana = await makePerson();
  let statements = 0;
  const DB = {
    prepare: (query: string) => {
      statements++;
      return env.DB.prepare(query);
    },
    batch: (list: D1PreparedStatement[]) => env.DB.batch(list),
  };
  const count = async (cookies: Record<string, string>) => {
    statements = 0;
    const { data } = await open("/app", cookies, {}, { DB });
    return { statements, hasContent: data !== undefined };
  };
  const [head = "", payload = "", signature = ""] = ana.token.split(".");
  const forged: Record<string, string>[] = [
    ...[0, 17, 21].map((at) => ({ [refreshCookie]: damage(ana.refreshToken, at) })), // session, generation, seal
    { [refreshCookie]: Buffer.alloc(52, 7).toString("base64url") },
    { [accessCookie]: `${head}.${payload}.${damage(signature, 0)}` },
    { [accessCookie]: ana.token.slice(0, -10), [refreshCookie]: "x" },
  ];
  for (const cookies of forged) expect(await count(cookies)).toEqual({ statements: 0, hasContent: false });
  // The second MAC needs the session's nonce, which one statement reads.
  expect(await count({ [refreshCookie]: damage(ana.refreshToken, 51) })).toEqual({ statements: 1, hasContent: false });
  expect(await count({ [refreshCookie]: ana.refreshToken })).toMatchObject({ hasContent: true });
});
