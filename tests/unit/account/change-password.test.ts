import * as v from "valibot";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { toErrorCode } from "#lib/http/http-request.ts";
import { createPasswordChange } from "#lib/session/change-password.ts";

const Asked = v.object({ password: v.string() });

/** An account signed in on two more devices. Requests are lost before the server acts, or their answers are lost. */
const makeServer = (first: string) => {
  const server = { password: first, others: 2, asked: 0, fate: [] as ("before" | "after")[] };
  const act = (method: string, body: string | undefined): Response => {
    if (method === "DELETE") {
      server.others = 0;
      return new Response(null, { status: 204 });
    }
    const { password } = v.parse(Asked, JSON.parse(body ?? ""));
    if (password === server.password)
      return Response.json({ code: 422, error_code: "same_password", msg: "" }, { status: 422 });
    server.password = password;
    server.others = 0;
    return Response.json({});
  };
  vi.stubGlobal("fetch", async (_: string, { method, body }: { method: string; body?: string }) => {
    server.asked++;
    const lost = server.fate.shift();
    if (lost === "before") throw new TypeError("Failed to fetch");
    const answer = act(method, body);
    if (lost === "after") throw new TypeError("Failed to fetch");
    return answer;
  });
  return server;
};

const codeOf = (work: Promise<void>) => work.then(() => "done", toErrorCode);

describe("changing the password", () => {
  beforeEach(() => {
    vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => undefined, removeItem: () => undefined });
  });

  it("succeeds when only the answer was lost, although the retry finds the new password in place", async () => {
    const server = makeServer("Old2026");
    server.fate = ["after"];
    expect(await codeOf(createPasswordChange()("New2026"))).toBe("done");
    expect(server.password).toBe("New2026");
  });

  it("succeeds when the user retries after a long loss of network", async () => {
    const server = makeServer("Old2026");
    server.fate = ["after", "before"];
    const change = createPasswordChange();
    expect(await codeOf(change("New2026"))).toBe("offline");
    expect(await codeOf(change("New2026"))).toBe("done");
    expect(server.password).toBe("New2026");
  });

  it("signs the other devices out if the first request was lost and the new password equals the old one", async () => {
    const server = makeServer("Old2026");
    server.fate = ["before"];
    expect(await codeOf(createPasswordChange()("Old2026"))).toBe("done");
    expect(server.others).toBe(0);
  });

  it("is refused if the server answers at once that the new password equals the old one", async () => {
    const server = makeServer("Old2026");
    expect(await codeOf(createPasswordChange()("Old2026"))).toBe("same_password");
    expect(server.others).toBe(2);
  });

  it("does not treat another password as confirmed because an earlier request had no answer", async () => {
    const server = makeServer("Old2026");
    server.fate = ["before", "before"];
    const change = createPasswordChange();
    expect(await codeOf(change("New2026"))).toBe("offline");
    expect(await codeOf(change("Old2026"))).toBe("same_password");
  });
});
