import { beforeAll, expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { ConversationPreview } from "#features/conversations/conversation-preview.tsx";
import fr from "#i18n/fr.json";
import { activateTexts } from "#i18n/setup.ts";
import type { ConversationListItem } from "#sync/hooks/use-conversations.ts";
import type { MemberProfiles } from "#sync/store/view-models.ts";
import { renderMarkup } from "#tests/support/rendered.tsx";

beforeAll(() => activateTexts("fr", fr));

const makeItem = (memberProfiles: MemberProfiles): ConversationListItem => {
  const item: Partial<ConversationListItem> = {
    id: createUuid(),
    kind: "group",
    group: { name: "Famille", picture: null, role: "member", number: 0, count: 3, roster: 1 },
    memberProfiles,
    last: { body: { type: "text", text: "Réunion samedi" }, mine: false, sender: 2, at: 0 },
    unread: 0,
    mentions: [],
    marked: false,
    pinned: false,
    muted: false,
    mutedExceptMentions: false,
    draft: "",
  };
  return item as ConversationListItem;
};
const render = (item: ConversationListItem) =>
  renderMarkup(<ConversationPreview item={item} isOpen={false} />).replace(/<[^>]+>/g, "");

test("the last message of a group names its sender once the name is loaded, and nobody before", () => {
  expect(render(makeItem({}))).toBe("Réunion samedi");
  expect(
    render(makeItem({ 2: { user: createUuid(), name: "Nzinga", avatar: null, phone: "", me: false } })).replaceAll(
      "\u00a0",
      " ",
    ),
  ).toBe("Nzinga : Réunion samedi");
});
