import { describe, expect, it } from "vitest";
import { createUuid } from "#contract/ids.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import { createSearchMatcher } from "#contract/text.ts";
import { listWebLinks } from "#contract/wire/links.ts";
import { createMessageMatcher, isSearchable, listSearchKinds } from "#contract/wire/search-filter.ts";

const file = { file: createUuid(), name: "www.exemple.cd.pdf", mime: "application/pdf", size: 5 } as const;
const call: StoredBody = { type: "call", id: createUuid(), kind: "audio", status: "ended", seconds: 3 };

describe("kinds of a message in a search", () => {
  it.each<[StoredBody, string[]]>([
    [{ type: "text", text: "mbote" }, ["text"]],
    [{ type: "text", text: "va sur www.exemple.cd" }, ["text", "link"]],
    [{ type: "text", text: "voilà https://exemple.cd", reply: 3 }, ["text", "link"]],
    [{ type: "text", text: "ana@exemple.cd ou +243 81 000 0001" }, ["text"]],
    [{ type: "file", ...file }, ["file"]],
    [{ type: "file", ...file, text: "aussi http://exemple.cd/a" }, ["file", "link"]],
    [{ type: "voice", ...file, ms: 900, waveform: "" }, ["voice"]],
    [{ type: "event", event: "left" }, []],
    [{ type: "deleted" }, []],
    [{ type: "withheld" }, []],
    [call, ["call"]],
  ])("%j has %j", (body, kinds) => {
    expect(listSearchKinds(body)).toEqual(kinds);
  });

  it("are those under which the message is found", () => {
    const isLink = createMessageMatcher(undefined, { kind: "link" });
    expect(isLink({ sender: 0, at: 1, body: { type: "text", text: "www.exemple.cd" } })).toBe(true);
    expect(isLink({ sender: 0, at: 1, body: { type: "text", text: "exemple" } })).toBe(false);
  });
});

describe("a filtered search", () => {
  const at = 1_000;
  const message = { sender: 3, at, body: { type: "text", text: "L'Été à Kinshasa" } } as const;

  it.each([
    ["", { from: 3 }, true],
    ["", { from: 0 }, false],
    ["", { after: at }, true],
    ["", { after: at + 1 }, false],
    ["", { before: at + 1 }, true],
    ["", { before: at }, false],
    ["ete", { from: 3, kind: "text", after: at, before: at + 1 }, true],
    ["hiver", { from: 3 }, false],
    ["ete", { kind: "image" }, false],
    ["ete", undefined, true],
  ] as const)("%j with %j finds a message: %s", (query, filter, isFound) => {
    expect(createMessageMatcher(query === "" ? undefined : createSearchMatcher(query), filter)(message)).toBe(isFound);
  });

  it("never finds system messages, tombstones and placeholders", () => {
    const isMatch = createMessageMatcher(undefined, { after: 0 });
    for (const body of [{ type: "event", event: "left" }, { type: "deleted" }, { type: "withheld" }] as const)
      expect(isMatch({ sender: 0, at, body })).toBe(false);
  });

  it("needs a text or a filter", () => {
    expect(isSearchable({ query: "" })).toBe(false);
    expect(isSearchable({ query: "", filter: {} })).toBe(false);
    expect(isSearchable({ query: "", filter: { from: 0 } })).toBe(true);
    expect(isSearchable({ query: "a" })).toBe(true);
  });
});

describe("web links of a text", () => {
  it("are its web addresses, in their order, without mail addresses and phone numbers", () => {
    const links = listWebLinks("www.un.cd, ana@deux.cd, +243 81 000 0001 et https://trois.cd/q.");
    expect(links.map(({ href }) => href)).toEqual(["https://www.un.cd/", "https://trois.cd/q"]);
    expect(listWebLinks("rien")).toEqual([]);
  });
});
