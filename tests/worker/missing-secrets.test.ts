import { expect, test, vi } from "vitest";
import { requiredSecrets } from "../../worker/lib/required-secrets";
import { newPerson } from "./site";
import { callWith } from "./wrapped-site";

test.each(
  requiredSecrets.flatMap((name) => [
    [name, undefined],
    [name, ""],
    [name, " "],
  ]),
)("without %s (%j) the API answers nothing, and its log says why", async (name, value) => {
  const person = await newPerson();
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  for (const [method, path] of [
    ["GET", "/api/health"],
    ["POST", "/api/auth/challenge"],
    ["GET", "/api/auth/user"],
    ["POST", "/api/auth/token?grant_type=password"],
    ["GET", "/api/socket"],
    ["GET", "/api/nothing"],
  ] as const) {
    const answer = await callWith({ [name]: value }, method, path, { token: person.token });
    expect({ path, status: answer.status, body: answer.body }).toEqual({
      path,
      status: 503,
      body: { code: 503, error_code: "unavailable", msg: "This deployment is not complete" },
    });
  }
  // Objects of other tests may have something to say too.
  const lines = log.mock.calls.map(([line]) => String(line)).filter((line) => line.startsWith("Missing secret"));
  expect(lines).toHaveLength(6);
  for (const line of lines) expect(line).toMatch(new RegExp(`^Missing secret: ${name}\\.`));
  log.mockRestore();
});

test("with all of them it answers", async () => {
  expect((await callWith({}, "GET", "/api/health")).status).toBe(200);
});
