import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GroupRole } from "#contract/groups.ts";
import { createUuid } from "#contract/ids.ts";
import { StaleListNote } from "#features/groups/members/member-list.tsx";
import { toGroupMemberViews } from "#features/groups/members/member-view.ts";
import en from "#i18n/en.json";
import fr from "#i18n/fr.json";
import pt from "#i18n/pt.json";
import { activateTexts } from "#i18n/setup.ts";
import type { MemberRow } from "#sync/store/database.ts";
import { renderMarkup } from "#tests/support/rendered.tsx";

const group = createUuid();
const row = (number: number, username: string, role: GroupRole): MemberRow => ({
  conversation: group,
  number,
  user: createUuid(),
  username,
  phone: `+24381000000${number}`,
  avatar: null,
  createdAt: 0,
  role,
  since: 0,
  left: 0,
  at: 0,
});

describe("a list of members older than its group", () => {
  const [ana, ben, cleo] = [row(0, "Ana", "owner"), row(1, "Ben", "member"), row(2, "Cleo", "member")];
  const rolesFor = (me: MemberRow, areRolesKnown: boolean, ownRole: GroupRole) =>
    toGroupMemberViews([ana, ben, cleo], areRolesKnown, me.user, ownRole, "fr").map(({ username, role }) => [
      username,
      role,
    ]);

  it("shows the owner as owner, and nobody else, whatever the list held before", () => {
    const owned = (owner: string, ...others: string[]) => [[owner, "owner"], ...others.map((name) => [name, "member"])];
    expect(rolesFor(ana, false, "owner")).toEqual(owned("Ana", "Ben", "Cleo"));
    // The ownership was transferred since the list was read.
    expect(rolesFor(cleo, false, "owner")).toEqual(owned("Cleo", "Ana", "Ben"));
    expect(rolesFor(cleo, true, "owner")).toEqual(owned("Cleo", "Ana", "Ben"));
  });

  it("shows nobody else as owner before that is known, and not the user after a transfer", () => {
    expect(rolesFor(ben, false, "member")).toEqual([
      ["Ben", "member"],
      ["Ana", undefined],
      ["Cleo", undefined],
    ]);
    expect(rolesFor(ben, true, "member")[0]).toEqual(["Ana", "owner"]);
    expect(rolesFor(ana, true, "member")[0]).toEqual(["Ana", "member"]);
  });
});

describe("the heading of a list of members", () => {
  afterAll(() => activateTexts("fr", fr));

  describe.each([
    ["fr", fr],
    ["en", en],
    ["pt", pt],
  ] as const)("in %s", (language, texts) => {
    beforeAll(() => activateTexts(language, texts));
    const { loadingRest, incomplete, outdated } = texts.groups.page;

    it.each([
      ["the rest is being loaded, while it is", 2, "loading", loadingRest],
      ["some are missing, when they cannot be had", 2, "failed", incomplete],
      ["it may be old, when as many as there are cannot be brought up to date", 3, "failed", outdated],
      ["nothing of a moment in which nobody is missing", 3, "loading", ""],
      ["nothing of a list that is level", 2, "ready", ""],
      ["nothing of a list that is not there", undefined, "failed", ""],
    ] as const)("%s", (_, shown, state, text) => {
      const markup = renderMarkup(<StaleListNote shown={shown} count={3} state={state} />);
      expect(markup).toMatch(/^<div role="status">/);
      expect(markup.replaceAll("&#x27;", "'").replace(/<[^>]*>/g, "")).toBe(text);
    });
  });
});
