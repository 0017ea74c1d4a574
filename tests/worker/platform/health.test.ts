import { env, exports } from "cloudflare:workers";
import { beforeEach, expect, test, vi } from "vitest";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { callWith, overrideMethods } from "#tests/worker/support/wrapped-site.ts";

const freshMs = 5_000;
let later = 0;

/** Each test begins after the result of the one before has expired. */
beforeEach(() => {
  later += 10 * freshMs;
  advanceClock(later);
});

const ask = (changed: Parameters<typeof callWith>[0] = {}) => callWith(changed, "GET", "/api/health");
const fail = () => Promise.reject(new Error("away"));
const never = () => new Promise(() => undefined);
const away = {
  directory: { DB: { prepare: () => ({ run: fail }) } },
  files: { FILES: { head: fail } },
  objects: { CONVERSATION: overrideMethods(env.CONVERSATION, { canReadFile: fail }) },
};

test("the health check answers", async () => {
  const response = await exports.default.fetch("https://lisolo.test/api/health");
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ ok: true });
});

test.each(Object.entries(away))("the health check names the %s when they fail", async (name, changed) => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const answer = await ask(changed);
  expect(answer).toMatchObject({ status: 503, body: { error_code: "unavailable", down: name } });
});

test("the health check waits two seconds for parts that do not answer, and names all of them", async () => {
  const FILES = { head: never };
  const answer = await ask({ ...away.directory, FILES, DB: { prepare: () => ({ run: never }) } });
  expect(answer).toMatchObject({ status: 503, body: { down: "directory, files" } });
});

test("a flood of health checks touches nothing more than one of them for five seconds", async () => {
  let touched = 0;
  const FILES = { head: async () => void touched++ };
  for (let i = 0; i < 20; i++) expect((await ask({ FILES })).status).toBe(200);
  expect(touched).toBe(1);
  advanceClock(freshMs);
  await ask({ FILES });
  expect(touched).toBe(2);
});
