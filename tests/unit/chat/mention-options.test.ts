import { describe, expect, test } from "vitest";
import { findMentionQuery, listMentionOptions } from "#features/chat/mentions/mention-options.ts";
import type { MemberRow } from "#sync/store/database.ts";

const toMember = (username: string, number: number): MemberRow => ({
  conversation: "g",
  number,
  user: `u${number}`,
  username,
  phone: "+243810000001",
  avatar: null,
  createdAt: 0,
  role: "member",
  since: 0,
  left: 0,
  at: 0,
});

describe("the mention being written", () => {
  test.each([
    ["@", 1, { start: 0, text: "" }],
    ["Mbote @Gr", 9, { start: 6, text: "Gr" }],
    ["Mbote @Grâce Mb", 15, { start: 6, text: "Grâce Mb" }],
    ["Mbote @Gr suite", 9, { start: 6, text: "Gr" }],
    ["(@Gr", 4, { start: 1, text: "Gr" }],
    ["ligne\n@Gr", 9, { start: 6, text: "Gr" }],
  ])("in %j before position %i is found", (text, caret, query) => {
    expect(findMentionQuery(text, caret)).toEqual(query);
  });

  test.each([
    ["ana@exemple.cd", 14],
    ["Mbote @Gr", 5],
    ["@Gr\nsuite", 9],
    [`@${"x".repeat(60)}`, 61],
    ["sans", 4],
  ])("in %j before position %i is none", (text, caret) => {
    expect(findMentionQuery(text, caret)).toBeUndefined();
  });
});

describe("the list of members to mention", () => {
  const members = ["Grâce Mbuyi", "Maman Chantal", "Éric", "Mbuyi Jean", "", "Éric"].map(toMember);
  const namesFor = (query: string, everyone?: string) =>
    listMentionOptions(members, everyone, query).map(({ name, member }) => `${name} ${member?.number ?? "-"}`);

  test("has those whose name or a later word of it starts with the query, whatever the accents and case", () => {
    expect(namesFor("gra")).toEqual(["Grâce Mbuyi 0"]);
    expect(namesFor("mbu")).toEqual(["Mbuyi Jean 3", "Grâce Mbuyi 0"]);
    expect(namesFor("eric")).toEqual(["Éric 2", "Éric 5"]);
    expect(namesFor("uyi")).toEqual([]);
  });

  test("has everybody with a name before anything is typed, and says who has a namesake", () => {
    expect(namesFor("")).toHaveLength(5);
    const options = listMentionOptions(members, undefined, "");
    expect(options.filter(({ hasNamesake }) => hasNamesake).map(({ name }) => name)).toEqual(["Éric", "Éric"]);
  });

  test("begins with everyone for those who may mention everyone", () => {
    expect(namesFor("T", "tous")).toEqual(["tous -"]);
    expect(namesFor("gra", "tous")).toEqual(["Grâce Mbuyi 0"]);
    expect(namesFor("", "tous")[0]).toBe("tous -");
  });
});
