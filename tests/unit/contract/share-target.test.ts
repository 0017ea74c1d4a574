import { describe, expect, it } from "vitest";
import { messageTextMaxLength } from "#contract/limits/messages.ts";
import { joinSharedTexts } from "#contract/wire/share-target.ts";

describe("the text of a share", () => {
  it.each([
    ["", "Le bus part à 7 h", "", "Le bus part à 7 h"],
    ["Horaire", "Le bus part à 7 h", "https://bus.example/7", "Horaire\nLe bus part à 7 h\nhttps://bus.example/7"],
    ["", "", "https://bus.example/7", "https://bus.example/7"],
    ["Photo", "", "", "Photo"],
    ["", "", "", ""],
    ["  ", "\u0007", "\n", ""],
  ])("joins the title %j, the text %j and the address %j", (title, text, url, expected) => {
    expect(joinSharedTexts(title, text, url)).toBe(expected);
  });
  it("repeats neither a title nor an address that the text contains", () => {
    const text = "Horaire du bus: https://bus.example/7";
    expect(joinSharedTexts("Horaire du bus", text, "https://bus.example/7")).toBe(text);
    expect(joinSharedTexts(text, "Horaire du bus", "")).toBe(text);
  });
  it("is complete even if it is too long for a message", () => {
    const text = "a".repeat(messageTextMaxLength + 400);
    expect(joinSharedTexts("Titre", text, "https://bus.example/7")).toBe(`Titre\n${text}\nhttps://bus.example/7`);
  });
});
