import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { messageTextMaxLength } from "#contract/limits/messages.ts";
import type { PushPayload } from "#contract/push.ts";
import { MessageText } from "#contract/text.ts";
import { listReadNotifications } from "#features/push/close-read-notifications.ts";
import type { PushDevice } from "#lib/browser/push/push-device.ts";
import { chooseWindow } from "#sw/choose-window.ts";
import { toReplyTexts } from "#sw/notification-actions.ts";
import { parsePush, toAppPath, toNotification, toReplyNotification } from "#sw/push-notification.ts";

const [me, friend] = [createUuid(), createUuid()];
const conversation = privateConversationId(me, friend);
const path = `/app/chat/${friend}`;
const device: PushDevice = { user: me, language: "pt", endpoint: "https://push.example/1", key: "k", savedAt: 0 };
const payload: PushPayload = {
  web_push: 8030,
  notification: {
    title: "Ben",
    body: "Mbote!",
    navigate: `https://lisolo.example${path}`,
    tag: `c:${conversation}`,
    lang: "pt",
    dir: "auto",
  },
  mutable: true,
  data: { kind: "message", user: me, conversation, count: 2, head: 7, sentAt: 1_000, isAlerting: true },
};
const general = { title: "Lisolo", options: { body: "Nova mensagem", tag: "lisolo", data: { path: "/app" } } };

describe("the notification of a push", () => {
  it("has the sender, the text and the path of the conversation", () => {
    expect(toNotification(parsePush(JSON.stringify(payload)), device, ["fr"])).toMatchObject({
      title: "Ben",
      options: {
        body: "Mbote!",
        tag: `c:${conversation}`,
        renotify: true,
        silent: false,
        timestamp: 1_000,
        data: { path, conversation, count: 2, head: 7 },
      },
    });
  });
  it("makes no sound if the server says so", () => {
    const quiet = { ...payload, data: { ...payload.data, isAlerting: false } };
    expect(toNotification(quiet, device, []).options).toMatchObject({ renotify: false, silent: true });
  });
  it.each(["", "not JSON", "{}", "null", JSON.stringify({ ...payload, data: { ...payload.data, user: "x" } })])(
    "is a general one for the unreadable content %j",
    (text) => {
      expect(toNotification(parsePush(text), device, ["fr"])).toMatchObject(general);
    },
  );
  it("is a general one without content", () => {
    expect(toNotification(parsePush(undefined), device, [])).toMatchObject(general);
  });
  it("has no content for another account, or while nobody is signed in", () => {
    const others = { ...payload, data: { ...payload.data, user: friend } };
    expect(toNotification(others, device, [])).toMatchObject(general);
    const signedOut = toNotification(payload, undefined, ["en-GB"]);
    expect(signedOut).toMatchObject({ title: "Lisolo", options: { body: "New message", data: { path: "/app" } } });
    expect(JSON.stringify([signedOut, toNotification(others, device, [])])).not.toMatch(/Ben|Mbote|chat/);
  });
});

describe("the buttons of a notification", () => {
  it("are a reply and the mark as read, in the language of the device, for messages only", () => {
    expect(toNotification(payload, device, []).options.actions).toEqual([
      { action: "reply", title: "Responder", type: "text", placeholder: "A sua resposta" },
      { action: "read", title: "Marcar como lida" },
    ]);
    const test = { ...payload, data: { ...payload.data, kind: "test" as const } };
    expect(toNotification(test, device, []).options.actions).toBeUndefined();
    expect(toNotification(payload, undefined, []).options.actions).toBeUndefined();
  });
  it("are missing if the notification does not show whose messages it announces", () => {
    const hidden = { ...payload, data: { ...payload.data, isNameHidden: true as const } };
    for (const kind of ["message", "missed_call"] as const)
      expect(toNotification({ ...hidden, data: { ...hidden.data, kind } }, device, []).options.actions).toBeUndefined();
  });
  it("leave the text of a reply in the silent notification until it is sent", () => {
    const { title, options } = toNotification(payload, device, []);
    const shown = { title, tag: options.tag ?? "", lang: "pt", data: options.data };
    const { tag, data } = shown;
    expect(toReplyNotification(shown, "Mbote", "waiting")).toMatchObject({
      title,
      options: { body: "A aguardar envio\nMbote", tag, data, silent: true },
    });
    expect(toReplyNotification(shown, "Mbote", "refused").options.body).toBe("Não enviada\nMbote");
  });
});

describe("a reply", () => {
  it("becomes one message without surrounding space", () => {
    expect(toReplyTexts("  Mbote\r\nna yo ")).toEqual(["Mbote\nna yo"]);
  });
  it("becomes none without a visible character", () => {
    expect(toReplyTexts(" \u200d\n")).toEqual([]);
  });
  it("that is too long becomes several messages, complete and without a cut character", () => {
    const text = `x${"😀".repeat(messageTextMaxLength)}`;
    const texts = toReplyTexts(text);
    expect(texts.join("")).toBe(text);
    expect(texts.every((part) => v.is(MessageText, part))).toBe(true);
  });
});

describe("the path of a notification", () => {
  it.each([
    ["https://lisolo.example/app/group/1", "/app/group/1"],
    ["http://localhost:8787/app", "/app"],
    ["https://lisolo.example/api/auth/logout", "/app"],
    ["https://lisolo.example/application", "/app"],
    ["javascript:alert(1)", "/app"],
    ["/app/chat/1", "/app"],
  ])("of %s is %s", (url, expected) => {
    expect(toAppPath(url)).toBe(expected);
  });
});

describe("the window that a tapped notification opens in", () => {
  const open = (where: string, visibilityState: DocumentVisibilityState = "hidden") => ({
    url: `https://lisolo.example${where}`,
    visibilityState,
  });
  const [onChat, onList, onTala] = [open(path), open("/app", "visible"), open("/app/tala")];

  it("is the one that shows the conversation, though another is visible", () => {
    expect(chooseWindow([onList, onTala, onChat], path)).toBe(onChat);
    expect(chooseWindow([open(`${path}?x=1`), onList], path)).toMatchObject({ url: expect.stringContaining("x=1") });
  });
  it("is else a visible one, else the one that had the focus last", () => {
    expect(chooseWindow([onTala, onList], path)).toBe(onList);
    expect(chooseWindow([onTala, open("/app/help")], path)).toBe(onTala);
  });
  it("is none of other pages of this origin", () => {
    expect(chooseWindow([open("/login", "visible"), open("/application")], path)).toBeUndefined();
    expect(chooseWindow([], path)).toBeUndefined();
  });
});

describe("a shown notification", () => {
  const shown = [{ conversation, head: 7 }];
  it("is closed once its conversation is read", () => {
    expect(listReadNotifications(shown, [{ id: conversation, head: 7, unread: 0 }])).toEqual(shown);
    expect(listReadNotifications(shown, [{ id: conversation, head: 9, unread: 0 }])).toEqual(shown);
  });
  it("stays while messages are unread, unknown here, or of a conversation that is not known", () => {
    expect(listReadNotifications(shown, [{ id: conversation, head: 7, unread: 1 }])).toEqual([]);
    expect(listReadNotifications(shown, [{ id: conversation, head: 6, unread: 0 }])).toEqual([]);
    expect(listReadNotifications(shown, [{ id: createUuid(), head: 9, unread: 0 }])).toEqual([]);
  });
});
