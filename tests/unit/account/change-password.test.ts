import * as v from "valibot";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { toErrorCode } from "#lib/http/http-request.ts";
import { createPasswordChange } from "#lib/session/change-password.ts";

const Asked = v.object({ password: v.string() });

/** An account that is open on two more devices; requests are lost before the server has acted, or answers after. */
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

describe("a new password", () => {
  beforeEach(() => {
    vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => undefined, removeItem: () => undefined });
  });

  it("is done when only the answer was lost, though the server then finds it the same", async () => {
    const server = makeServer("Old2026");
    server.fate = ["after"];
    expect(await codeOf(createPasswordChange()("New2026"))).toBe("done");
    expect(server.password).toBe("New2026");
  });

  it("is done when its person asks again after the network was away for longer", async () => {
    const server = makeServer("Old2026");
    server.fate = ["after", "before"];
    const change = createPasswordChange();
    expect(await codeOf(change("New2026"))).toBe("offline");
    expect(await codeOf(change("New2026"))).toBe("done");
    expect(server.password).toBe("New2026");
  });

  it("signs the other devices out also where nothing had arrived and it is the one there was", async () => {
    const server = makeServer("Old2026");
    server.fate = ["before"];
    expect(await codeOf(createPasswordChange()("Old2026"))).toBe("done");
    expect(server.others).toBe(0);
  });

  it("is refused where the server heard it at once and it is the one there was", async () => {
    const server = makeServer("Old2026");
    expect(await codeOf(createPasswordChange()("Old2026"))).toBe("same_password");
    expect(server.others).toBe(2);
  });

  it("is no other one: what was asked for without an answer says nothing of the next", async () => {
    const server = makeServer("Old2026");
    server.fate = ["before", "before"];
    const change = createPasswordChange();
    expect(await codeOf(change("New2026"))).toBe("offline");
    expect(await codeOf(change("Old2026"))).toBe("same_password");
  });
});
