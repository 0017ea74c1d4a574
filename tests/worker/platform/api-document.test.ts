import { expect, test, vi } from "vitest";
import { errorCodes, errorStatus } from "#contract/errors.ts";
import { call } from "#tests/worker/support/site.ts";
import { api } from "#worker/api.ts";

type Way = { properties: object; required: string[] };
type Operation = {
  operationId: string;
  summary: string;
  security?: object[];
  responses: Record<string, { content?: Record<string, { schema: unknown }> }>;
  requestBody?: { content: Record<string, { schema: { properties?: object; anyOf?: Way[] } }> };
  parameters?: { name: string; in: string; required?: boolean }[];
};
type Document = { openapi: string; paths: Record<string, Record<string, Operation>>; components: { schemas: object } };

const read = async () => (await call("GET", "/api/openapi.json")).body as Document;
const operationsOf = (document: Document) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, operation })),
  );

test("the document describes every route of the API and its purpose", async () => {
  const document = await read();
  expect(document.openapi).toBe("3.1.0");
  const served = api.routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
  const operations = operationsOf(document);
  expect(operations.map(({ route }) => route).sort()).toEqual([...new Set(served)].sort());
  for (const { operation } of operations) expect(operation.summary.length).toBeGreaterThan(5);
});

test("operations of the specification have its names, and no two operations share one", async () => {
  const operations = operationsOf(await read());
  const routes = new Map(operations.map(({ route, operation }) => [operation.operationId, route]));
  expect(routes.size).toBe(operations.length);
  const named: Record<string, string> = {
    "delete-user-account": "DELETE /api/account",
    get_recent_conversations: "GET /api/conversations",
    search_users_by_phone: "POST /api/people/search",
    create_group_with_members: "POST /api/groups",
    "delete-conversation": "DELETE /api/conversations/{id}",
    "create-call": "POST /api/calls",
    "answer-call": "POST /api/calls/{id}/answer",
    "signal-call": "POST /api/calls/{id}/signal",
    "end-call": "POST /api/calls/{id}/end",
  };
  for (const [name, route] of Object.entries(named)) expect(routes.get(name)).toBe(route);
});

test("every refusal in the document is a known error code under its status", async () => {
  const inUse = new Set<string>();
  for (const { operation } of operationsOf(await read())) {
    for (const [status, response] of Object.entries(operation.responses)) {
      if (Number(status) < 400) continue;
      const schema = response.content?.["application/json"]?.schema as {
        allOf: [{ $ref: string }, { properties: { error_code: { enum: (keyof typeof errorStatus)[] } } }];
      };
      expect(schema.allOf[0].$ref).toBe("#/components/schemas/ApiError");
      for (const code of schema.allOf[1].properties.error_code.enum) {
        expect(errorStatus[code]).toBe(Number(status));
        inUse.add(code);
      }
    }
  }
  expect(errorCodes.filter((code) => !inUse.has(code) && errorStatus[code] >= 500)).toEqual([]);
});

test("the schemas of bodies and queries are in the document", async () => {
  const { paths } = await read();
  const signUp = paths["/api/auth/signup"]?.["post"]?.requestBody?.content["application/json"]?.schema;
  expect(Object.keys(signUp?.properties ?? {})).toEqual([
    "phone",
    "password",
    "data",
    "identity",
    "gotrue_meta_security",
  ]);
  const search = paths["/api/people/search"]?.["post"];
  expect(Object.keys(search?.requestBody?.content["application/json"]?.schema?.properties ?? {})).toEqual(["phone"]);
  expect(search?.parameters).toBeUndefined();
  const { parameters = [] } = paths["/api/groups/{id}/members"]?.["get"] ?? {};
  expect(parameters.map(({ name, in: location }) => `${name} in ${location}`)).toEqual([
    "id in path",
    "numbers in query",
    "since in query",
    "after in query",
  ]);
  const picture = paths["/api/groups/{id}/picture"]?.["put"]?.requestBody?.content;
  expect(picture).toEqual({ "image/*": { schema: { type: "string", format: "binary" } } });
  expect(paths["/api/auth/challenge"]?.["post"]?.security).toEqual([]);
});

test("both ways of naming the callee of a call are in the document, with their answers", async () => {
  const { paths } = await read();
  const waysOf = (path: string) => {
    const body = paths[path]?.["post"]?.requestBody?.content["application/json"]?.schema;
    return (body?.anyOf ?? []).map(({ properties, required }) => [Object.keys(properties), required]);
  };
  const dial = ["call_id", "type", "device"];
  expect(waysOf("/api/calls")).toEqual([
    [
      ["conversation", ...dial],
      ["conversation", "type"],
    ],
    [
      ["callee_id", ...dial],
      ["callee_id", "type"],
    ],
  ]);
  for (const [action, ...fields] of [
    ["answer", "device"],
    ["end", "device", "status", "reason", "ago"],
    ["beat", "device", "unheard"],
    ["signal", "from", "to", "signal"],
  ]) {
    const variants = waysOf(`/api/calls/{id}/${action}`);
    expect(variants.map(([properties]) => properties)).toEqual([
      ["conversation", ...fields],
      ["to_user_id", ...fields],
    ]);
  }
  const standing = paths["/api/calls/{id}"]?.["get"];
  expect(standing?.parameters?.map(({ name, in: location, required }) => [name, location, required ?? false])).toEqual([
    ["id", "path", true],
    ["conversation", "query", false],
    ["to_user_id", "query", false],
  ]);
  const answerOf = (path: string, method: string) => {
    const content = paths[path]?.[method]?.responses["200"]?.content?.["application/json"];
    return Object.keys((content?.schema as Partial<Way> | undefined)?.properties ?? {});
  };
  expect(answerOf("/api/calls", "post")).toEqual([
    "call",
    "over",
    "now",
    "call_id",
    "ice_servers",
    "ttl",
    "relays",
    "hide",
  ]);
  expect(answerOf("/api/calls/{id}/ice", "get")).toEqual(["ice_servers", "ttl", "relays", "hide"]);
});

test("the readable page lists every route and runs no script", async () => {
  const document = await read();
  const { status, headers, body } = await call("GET", "/api/docs");
  expect(status).toBe(200);
  expect(headers.get("content-type")).toMatch(/^text\/html/);
  expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]+='/);
  for (const path of Object.keys(document.paths)) expect(body).toContain(`<code>${path}</code>`);
  expect(body).not.toMatch(/<script|https?:\/\/|\son\w+=/i);
});

test("the page's one inline style is the one its policy allows", async () => {
  const { headers, body } = await call("GET", "/api/docs");
  const style = /<style>([\s\S]*?)<\/style>/.exec(String(body))?.[1] ?? "";
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
  expect(headers.get("content-security-policy")).toContain(`'sha256-${Buffer.from(hash).toString("base64")}'`);
});

test.each(["/api/openapi.json", "/api/docs"])(
  "%s is computed once, cached, and not sent again to who has it",
  async (path) => {
    const first = await call("GET", path);
    const { status, headers } = first;
    const etag = headers.get("etag") ?? "";
    expect([status, headers.get("cache-control")]).toEqual([200, "public, max-age=300"]);
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    for (const known of [etag, `W/${etag}`]) {
      const again = await call("GET", path, { headers: { "if-none-match": known } });
      expect([again.status, again.body, again.headers.get("etag")]).toEqual([304, "", etag]);
    }
    expect((await call("GET", path, { headers: { "if-none-match": '"other"' } })).body).toEqual(first.body);
    const serialised = vi.spyOn(JSON, "stringify"); // of each schema, if it were computed again
    expect((await call("GET", path)).status).toBe(200);
    expect(serialised).not.toHaveBeenCalled();
  },
);
