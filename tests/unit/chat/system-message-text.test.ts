import { describe, expect, it } from "vitest";
import { describeTyping, type MemberNames, shortenName } from "#components/messages/member-names.ts";
import { describeMessage } from "#components/messages/message-preview-text.ts";
import { describeSystemMessage } from "#components/messages/system-message-text.ts";
import { type EventBody, groupEvents } from "#contract/messages/body.ts";
import type { ChatParticipation } from "#features/chat/message/chat-participation.ts";
import { describeSendFailure } from "#features/chat/message/failed-message.tsx";
import en from "#i18n/en.json";
import fr from "#i18n/fr.json";
import pt from "#i18n/pt.json";
import { createTranslate } from "#i18n/setup.ts";

const t = createTranslate("fr", fr);
const [me, ana, ben, gone, unknown] = [7, 1, 2, 3, 4];
const names: MemberNames = {
  ownNumber: me,
  profiles: { [ana]: { name: "Ana" }, [ben]: { name: "Ben" }, [gone]: { name: "" }, [me]: { name: "Moi" } },
};
const tell = (event: Omit<EventBody, "type">, sender: number): string =>
  describeSystemMessage({ type: "event", ...event }, sender, names, t);

describe("a system message of a group", () => {
  it("tells who did what to whom, for the actor, the target and others", () => {
    expect(tell({ event: "added", who: [ben] }, ana)).toBe("Ana a ajouté Ben.");
    expect(tell({ event: "added", who: [ben] }, me)).toBe("Vous avez ajouté Ben.");
    expect(tell({ event: "added", who: [me] }, ana)).toBe("Ana vous a fait entrer dans le groupe.");
    expect(tell({ event: "added", who: [ben, me] }, ana)).toBe("Ana a ajouté Ben et vous.");
    expect(tell({ event: "joined" }, ben)).toBe("Ben a rejoint le groupe.");
    expect(tell({ event: "joined" }, me)).toBe("Vous avez rejoint le groupe.");
    expect(tell({ event: "owner", who: [me] }, ana)).toBe("Ana vous a confié le groupe.");
    expect(tell({ event: "renamed", name: "Famille" }, me)).toBe(
      "Vous avez renommé le groupe en «\u00a0Famille\u00a0».",
    );
  });

  it("names an unknown or deleted person with a neutral word", () => {
    expect(tell({ event: "left" }, unknown)).toBe("Un membre a quitté le groupe.");
    expect(tell({ event: "removed", who: [gone] }, ana)).toBe("Ana a retiré Compte supprimé.");
  });

  it("names a few of many", () => {
    const manyNumbers = Array.from({ length: 20 }, (_, index) => 100 + index);
    const profiles = Object.fromEntries(manyNumbers.slice(0, 8).map((number) => [number, { name: `P${number}` }]));
    const line = (numbers: number[]) =>
      describeSystemMessage({ type: "event", event: "added", who: numbers }, me, { ownNumber: me, profiles }, t);
    expect(line(manyNumbers)).toBe("Vous avez ajouté P100, P101, P102, P103, P104 et 15 autres personnes.");
    expect(line(manyNumbers.slice(2, 8))).toBe("Vous avez ajouté P102, P103, P104, P105, P106 et P107.");
    expect(line(manyNumbers.slice(7, 9))).toBe("Vous avez ajouté P107 et 1 autre personne.");
  });

  it("isolates a name of another writing direction", () => {
    const foreign = { ownNumber: me, profiles: { [ana]: { name: "محمد" } } };
    expect(describeSystemMessage({ type: "event", event: "left" }, ana, foreign, t)).toBe(
      "\u2068محمد\u2069 a quitté le groupe.",
    );
  });

  it("is a sentence in every language, for every event and actor", () => {
    for (const translate of [t, createTranslate("en", en), createTranslate("pt", pt)]) {
      for (const event of groupEvents) {
        for (const sender of [ana, me]) {
          const body: EventBody = { type: "event", event, who: [me], name: "Famille" };
          const line = describeMessage(body, translate, { sender, names });
          expect(line).toMatch(/^\p{Lu}.*[^.{}]\.$/u);
          expect(line).not.toContain("groups.");
        }
      }
    }
  });
});

describe("a message that a group refused", () => {
  const reason = (participation: ChatParticipation, translate = t) =>
    describeSendFailure("conversation_not_found", participation, translate);

  it("shows that the user is no longer a member, until the user is a member again", () => {
    expect(reason("left")).toBe("Vous ne faites plus partie de ce groupe.");
    expect(reason("member")).toBe("Vous ne faisiez plus partie de ce groupe à ce moment-là.");
    expect(reason("private")).toBe(fr.errors.conversation_not_found);
    expect(describeSendFailure("message_too_long", "left", t)).toBe(fr.errors.message_too_long);
    for (const [translate, { errors }] of [
      [createTranslate("en", en), en],
      [createTranslate("pt", pt), pt],
    ] as const) {
      const reasons = [reason("left", translate), reason("member", translate), errors.conversation_not_found];
      expect(new Set(reasons).size).toBe(3);
      for (const sentence of reasons) expect(sentence).toMatch(/^\p{Lu}.*[^.{}]\.$/u);
    }
  });
});

describe("a message to a deleted account", () => {
  it("shows that the account is deleted, whatever else had prevented sending", () => {
    for (const [translate, { errors }] of [
      [t, fr],
      [createTranslate("en", en), en],
      [createTranslate("pt", pt), pt],
    ] as const) {
      for (const error of ["not_connected", "conversation_not_found", "unavailable", undefined] as const)
        expect(describeSendFailure(error, "peerDeleted", translate)).toBe(errors.account_deleted);
    }
    expect(describeSendFailure("not_connected", "private", t)).toBe(fr.errors.not_connected);
  });
});

describe("the people typing in a group", () => {
  it("are named up to two, and counted beyond", () => {
    expect(describeTyping(names, [], t)).toBeUndefined();
    expect(describeTyping(names, [ana], t)).toBe("Ana écrit...");
    expect(describeTyping(names, [ben, ana], t)).toBe("Ben et Ana écrivent...");
    expect(describeTyping(names, [ben, ana, unknown], t)).toBe("3 personnes écrivent...");
  });

  it("are named once their names are known", () => {
    expect(describeTyping(names, [unknown], t)).toBeUndefined();
    expect(describeTyping(names, [unknown, ana], t)).toBe("Ana écrit...");
  });

  it("leave room for the words after their name", () => {
    expect(shortenName("Ana", 14)).toBe("Ana");
    expect(shortenName("Carole Ngalula wa Kabongo", 14)).toBe("Carole Ngalula");
    expect(shortenName("Carole Ngalula wa Kabongo", 13)).toBe("Carole");
    expect(shortenName("Rajaonarimampianina", 10)).toBe("Rajaonari…");
  });
});
