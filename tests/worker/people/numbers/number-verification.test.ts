import { expect, test, vi } from "vitest";
import { numberCodesPerDay, numberProofsPerDay } from "#contract/limits/phone-numbers.ts";
import type { Person } from "#tests/support/people/people.ts";
import { connectPeople } from "#tests/support/people/people.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";
import { callRawWith } from "#tests/worker/support/wrapped-site.ts";
import { findAdapter, listMethods } from "#worker/lib/number-adapters.ts";
import {
  calledNumber,
  isVerified,
  postCall,
  postMessage,
  readLocalCode,
  readOwnNumber,
  requestProof,
  startProof,
  toCallWebhook,
  toMessageWebhook,
  typeCode,
  withAdapter,
  withAdapters,
} from "./number-proofs.ts";

const codeOf = (answer: { body: unknown }) => (answer.body as { error_code?: string }).error_code;

/** Records the requests to an aggregator, which answers with this status. */
const fakeAggregator = (status = 201) => {
  const requests: { url: string; headers: Headers; body: string }[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation((input, init) => {
    requests.push({ url: String(input), headers: new Headers(init?.headers), body: String(init?.body) });
    return Promise.resolve(new Response("{}", { status }));
  });
  return requests;
};

const local = { NUMBER_PROOFS: "", NUMBER_PROOF_SECRETS: "" };

test("on a local server a person verifies their number by a code shown at /dev/sms, and others see it", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  await connectPeople(site, ana, ben);
  const seen = async () => (await call("GET", `/api/users/${ana.id}`, { token: ben.token })).body;
  expect(await readOwnNumber(ana, local)).toEqual({
    phone: ana.phone,
    handle: null,
    verified_at: null,
    methods: ["whatsapp_code", "sms_code"],
    contested_until: null,
    refused_method: null,
    is_vouched: false,
    vouching: null,
  });
  expect(await seen()).not.toHaveProperty("verified");
  const proof = await startProof(ana, "sms_code", local);
  expect(proof.ask).toEqual({ kind: "code" });
  const code = await readLocalCode(ana.phone);
  const answer = await typeCode(ana, proof, `${code.slice(0, 3)} ${code.slice(3)}`);
  expect(answer).toMatchObject({ status: 200, body: { phone: ana.phone, verified_at: expect.any(Number) } });
  expect(await seen()).toHaveProperty("verified", true);
  const found = await call("POST", "/api/people/search", { token: ben.token, body: { phone: ana.phone } });
  expect(found.body).toMatchObject([{ id: ana.id, verified: true }]);
  expect(codeOf(await requestProof(ana, "sms_code", local))).toBe("number_already_verified");
  const page = await site.fetch("http://localhost/dev/sms", {});
  expect(await page.text()).toContain("Messages of this machine");
  expect((await site.fetch("https://lisolo.test/dev/sms", {})).status).toBe(404);
});

test("without a configuration nothing is offered, and everything else works", async () => {
  const ana = await makePerson();
  const none = withAdapters([]);
  expect(await readOwnNumber(ana, none)).toMatchObject({ phone: ana.phone, verified_at: null, methods: [] });
  expect(codeOf(await requestProof(ana, "sms_code", none))).toBe("number_method_unavailable");
  expect((await call("GET", "/api/contacts", { token: ana.token })).status).toBe(200);
});

test("a code is sent by the configured request, in the language of the person", async () => {
  const requests = fakeAggregator();
  const [ana, ben] = [await makePerson(), await makePerson()];
  const sms = await startProof(ana, "sms_code");
  expect(requests).toHaveLength(1);
  const [{ url, headers, body } = { url: "", headers: new Headers(), body: "{}" }] = requests;
  expect(url).toBe("https://sms.example/send");
  expect(headers.get("authorization")).toBe("Key sms-secret");
  const { to, text } = JSON.parse(body) as { to: string; text: string };
  expect(to).toBe(ana.phone);
  const code = /votre code est (\d{6})/.exec(text)?.[1] ?? "";
  expect(text.endsWith(`\n\n@lisolo.test #${code}`)).toBe(true);
  expect(text.length).toBeLessThanOrEqual(160);
  expect((await typeCode(ana, sms, code)).status).toBe(200);

  await requestProof(ben, "whatsapp_code", withAdapters(), { headers: { "accept-language": "pt" } });
  expect(requests[1]?.body).toMatch(new RegExp(`^to=${ben.phone.slice(1)}&code=\\d{6}&lang=pt$`));
  expect(requests[1]?.headers.get("content-type")).toBe("application/x-www-form-urlencoded");
});

test("a service that refuses or does not answer is reported, and the log contains no number", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const ana = await makePerson();
  fakeAggregator(500);
  expect(codeOf(await requestProof(ana, "sms_code"))).toBe("number_code_not_sent");
  vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error("no route"));
  expect(codeOf(await requestProof(ana, "sms_code"))).toBe("number_code_not_sent");
  expect(log).toHaveBeenCalledTimes(2);
  expect(log.mock.calls.flat().join(" ")).not.toContain(ana.phone.slice(-6));
});

test("a message that the person sends by WhatsApp verifies their number, once its webhook arrives", async () => {
  const ana = await makePerson();
  const { ask } = await startProof(ana, "whatsapp_message");
  if (ask.kind !== "message") throw new Error(`not a message: ${ask.kind}`);
  expect(ask.text).toMatch(/^LISOLO-[0-9A-HJKMNP-TV-Z]{8}$/);
  expect(ask.url).toBe(`https://wa.me/${ask.to.slice(1)}?text=${ask.text}`);
  expect((await postMessage(toMessageWebhook(ana.phone, `Mbote ${ask.text.toLowerCase()} !`))).status).toBe(204);
  expect(await isVerified(ana)).toBe(true);
});

test("an unanswered call from the number verifies it", async () => {
  const ana = await makePerson();
  expect((await startProof(ana, "missed_call")).ask).toEqual({ kind: "call", to: calledNumber });
  expect((await postCall(toCallWebhook(ana.phone))).status).toBe(204);
  expect(await isVerified(ana)).toBe(true);
});

test("Meta's handshake is answered with the right token only", async () => {
  const shake = (token: string) =>
    callRawWith(
      withAdapters(),
      `/api/number/webhooks/wa-in?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=1158201444`,
      { headers: { "cf-connecting-ip": "203.0.113.9" } },
    );
  const answer = await shake("shake");
  expect([answer.status, await answer.text()]).toEqual([200, "1158201444"]);
  expect((await shake("wrong")).status).toBe(403);
});

test("a number is sent three codes a day, whoever requests them, and a person starts five proofs", async () => {
  fakeAggregator();
  const ana = await makePerson();
  for (let n = 0; n < numberCodesPerDay; n++) await startProof(ana, "sms_code");
  const refused = await requestProof(ana, "whatsapp_code");
  expect(codeOf(refused)).toBe("number_proofs_used_up");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_600);
  // Methods that send nothing to the number are not affected.
  for (let n = numberCodesPerDay; n < numberProofsPerDay; n++) await startProof(ana, "whatsapp_message");
  expect(codeOf(await requestProof(ana, "whatsapp_message"))).toBe("number_proofs_used_up");
});

test("an adapter starts no more proofs a day than its budget, and a refused person keeps their starts", async () => {
  const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  fakeAggregator();
  const small = withAdapter("sms", { id: "small", per_day: 2 });
  const people: Person[] = [];
  for (let n = 0; n < 3; n++) people.push(await makePerson());
  const [ana, ben, cal] = people as [Person, Person, Person];
  await startProof(ana, "sms_code", small);
  await startProof(ben, "sms_code", small);
  for (let n = 0; n < 7; n++)
    expect(codeOf(await requestProof(cal, "sms_code", small))).toBe("number_method_unavailable");
  await startProof(cal, "sms_code");
  expect(warned.mock.calls.flat().join(" ")).toContain("small verifies no number: the budget of the day is used up");
});

test("a method is offered in the countries of its list, by the adapter with the longest prefix", () => {
  const [sms] = JSON.parse(withAdapter("sms").NUMBER_PROOFS) as [object];
  const list = withAdapters([sms, { ...sms, id: "sms-mobile", prefixes: ["+24399", "+242"] }]);
  expect(findAdapter(list, "+243990000001", "sms_code")?.id).toBe("sms-mobile");
  expect(findAdapter(list, "+243810000001", "sms_code")?.id).toBe("sms");
  expect(listMethods(list, "+242060000001")).toEqual(["sms_code"]);
  expect(listMethods(list, "+33600000001")).toEqual([]);
});

test("a broken configuration offers nothing, and the log names what is wrong without a secret", () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const [sms] = JSON.parse(withAdapter("sms").NUMBER_PROOFS) as [object];
  const broken: Record<string, { NUMBER_PROOFS: string; NUMBER_PROOF_SECRETS?: string }> = {
    "NUMBER_PROOFS is not valid JSON": { NUMBER_PROOFS: "[{" },
    "NUMBER_PROOFS is wrong at 0.url": withAdapter("sms", { url: "http://sms.example" }),
    "NUMBER_PROOFS is wrong at 0.body": withAdapter("sms", { body: "{{number}}" }),
    "NUMBER_PROOFS is wrong at 0.prefixes": withAdapter("sms", { prefixes: [] }),
    "no two of the same id": withAdapters([sms, sms]),
    "NUMBER_PROOF_SECRETS has no sms": { ...withAdapter("sms"), NUMBER_PROOF_SECRETS: '{"other":"hush"}' },
  };
  for (const [complaint, env] of Object.entries(broken)) {
    log.mockClear();
    expect(listMethods(env, "+243810000001"), complaint).toEqual([]);
    expect(log.mock.calls.flat().join(" "), complaint).toContain(complaint);
    expect(log.mock.calls.flat().join(" ")).not.toContain("hush");
  }
});
