import { describe, expect, it } from "vitest";
import { defaultQuietHours, defaultSettings } from "#contract/settings/settings.ts";
import {
  decideNotification,
  initialNotificationState,
  type NotificationContext,
  type NotificationDecision,
  type NotificationState,
} from "#features/notifier/notification-policy.ts";
import { chimeNotes } from "#features/notifier/notification-sound.ts";
import type { ConversationHead } from "#sync/hooks/new-messages.ts";

const startAt = 1_000_000;

/** A tab over time: its stored conversations and the notifications decided for them. */
const makeTab = (around: Partial<NotificationContext> = {}) => {
  let memory: NotificationState = initialNotificationState;
  let heads: ConversationHead[] = [];
  const here: NotificationContext = {
    now: startAt,
    phase: { name: "synced", since: 0 },
    freshAfter: Number.POSITIVE_INFINITY,
    isVisible: true,
    hasSystemNotifications: false,
    openConversation: undefined,
    isCovered: false,
    isListShown: false,
    call: "none",
    isRecording: false,
    settings: defaultSettings,
    ...around,
  };
  const judge = (): Pick<NotificationDecision, "playsSound" | "banner" | "isForOpenChat"> => {
    const { state: after, isBurst, duringCall, ...verdict } = decideNotification(memory, heads, here);
    tab.isBurst = isBurst;
    tab.duringCall = duringCall;
    memory = after;
    return verdict;
  };
  const put = (id: string, change: Partial<ConversationHead>) => {
    const before = heads.find((head) => head.id === id);
    const fresh: ConversationHead = { id, kind: "private", head: 0, at: 0, unread: 0, muted: false, isIncoming: true };
    heads = [{ ...(before ?? fresh), ...change }, ...heads.filter((head) => head.id !== id)];
  };
  const tab = {
    here,
    isBurst: false,
    duringCall: [] as string[],
    pass(ms: number) {
      here.now += ms;
    },
    put,
    judge,
    /** Receives `count` messages from another person. */
    arrive(id: string, count = 1, change: Partial<ConversationHead> = {}) {
      const { head = 0, unread = 0 } = heads.find((one) => one.id === id) ?? {};
      put(id, { head: head + count, unread: unread + count, at: here.now, isIncoming: true, ...change });
      return judge();
    },
  };
  return tab;
};

const open = (around: Partial<NotificationContext> = {}) => {
  const tab = makeTab(around);
  for (const id of ["ana", "ben"]) tab.put(id, { head: 4, at: startAt - 1_000, isIncoming: true });
  tab.put("groupe", { kind: "group", head: 9, at: startAt - 500 });
  expect(tab.judge()).toEqual({ playsSound: false, banner: undefined, isForOpenChat: false });
  tab.pass(60_000);
  return tab;
};
const nothing = { playsSound: false, banner: undefined, isForOpenChat: false };

describe("a new message", () => {
  it("is notified though it arrived before a page just opened had loaded all, and older messages are not", () => {
    const tab = makeTab({ phase: { name: "opening", since: startAt }, freshAfter: startAt });
    tab.put("ana", { head: 7, unread: 3, at: startAt - 1_000 });
    tab.put("ben", { head: 5, unread: 1, at: startAt + 1_000 });
    expect(tab.judge()).toMatchObject({ playsSound: false, banner: "ben" });
    expect(tab.judge()).toEqual(nothing);
    expect(tab.arrive("ana", 1, { at: startAt + 2_000 })).toMatchObject({ banner: "ana" });
  });

  it("plays a sound and shows a banner while another screen is open; older messages do not", () => {
    const tab = makeTab();
    tab.put("ana", { head: 7, unread: 3, at: startAt });
    expect(tab.judge()).toEqual(nothing);
    expect(tab.judge()).toEqual(nothing);
    tab.pass(10_000);
    expect(tab.arrive("ana")).toEqual({ playsSound: true, banner: "ana", isForOpenChat: false });
    expect(tab.judge()).toEqual(nothing);
  });

  it("causes no notification if it is one's own, read on another device, a call entry or a system message", () => {
    const tab = open();
    expect(tab.arrive("ana", 1, { isIncoming: false, unread: 0 })).toEqual(nothing);
    expect(tab.arrive("ben", 1, { unread: 0 })).toEqual(nothing);
    expect(tab.arrive("groupe", 1, { isIncoming: false, unread: 1 })).toEqual(nothing);
    expect(tab.arrive("ana")).toMatchObject({ playsSound: true, banner: "ana" });
  });

  it("plays one sound for a series of messages, and another after a pause or when the series does not end", () => {
    const tab = open();
    const heard: number[] = [];
    for (let second = 0; second < 50; second++) {
      if (tab.arrive("ana").playsSound) heard.push(second);
      tab.pass(1_000);
    }
    expect(heard).toEqual([0, 21, 42]);
    tab.pass(4_000);
    expect(tab.arrive("ben").playsSound).toBe(true);
  });

  it("plays one sound and shows one banner, of the newest, when several conversations receive one at once", () => {
    const tab = open();
    tab.put("ana", { head: 5, unread: 1, at: tab.here.now });
    expect(tab.arrive("groupe", 3)).toEqual({ playsSound: true, banner: "groupe", isForOpenChat: false });
  });

  it("notifies of a new mention in a conversation that is muted except mentions, and of nothing else there", () => {
    const tab = open();
    tab.put("groupe", { muted: true });
    tab.judge();
    expect(tab.arrive("groupe")).toMatchObject({ playsSound: false, banner: undefined });
    tab.pass(60_000);
    expect(tab.arrive("groupe", 2, { mention: 11 })).toMatchObject({ playsSound: true, banner: "groupe" });
    tab.pass(60_000);
    expect(tab.arrive("groupe")).toMatchObject({ playsSound: false, banner: undefined });
  });

  it("does not notify in a muted conversation", () => {
    const tab = open();
    tab.put("ana", { muted: true });
    tab.judge();
    expect(tab.arrive("ana")).toEqual(nothing);
    tab.put("ben", { head: 5, unread: 1, at: tab.here.now });
    // An unmuted conversation still notifies.
    expect(tab.arrive("ana")).toMatchObject({ playsSound: true, banner: "ben" });
  });

  it("notifies in a new conversation, but not in an old one that appears among the newest", () => {
    const tab = open();
    tab.put("alt", { head: 30, unread: 2, at: startAt - 86_400_000 });
    expect(tab.judge()).toEqual(nothing);
    expect(tab.arrive("neu")).toMatchObject({ playsSound: true, banner: "neu" });
  });

  it("notifies after its log was recreated", () => {
    const tab = open();
    tab.put("ana", { head: 0, unread: 0 });
    tab.judge();
    expect(tab.arrive("ana")).toMatchObject({ playsSound: true, banner: "ana" });
  });
});

describe("the open screen", () => {
  it("suppresses notifications of the open chat in all tabs; a hidden tab plays only the sound", () => {
    const tab = open({ openConversation: "ana" });
    expect(tab.arrive("ana")).toEqual({ playsSound: false, banner: undefined, isForOpenChat: true });
    expect(tab.arrive("ben")).toEqual({ playsSound: true, banner: "ben", isForOpenChat: false });
    tab.here.isVisible = false;
    tab.pass(10_000);
    expect(tab.arrive("ana")).toEqual({ playsSound: true, banner: undefined, isForOpenChat: false });
    tab.pass(10_000);
    expect(tab.arrive("ben")).toEqual({ playsSound: true, banner: undefined, isForOpenChat: false });
  });

  it("is silent in a hidden tab where a system notification sounds", () => {
    const tab = open({ isVisible: false, hasSystemNotifications: true });
    expect(tab.arrive("ana")).toEqual({ playsSound: false, banner: undefined, isForOpenChat: false });
    tab.here.isVisible = true;
    tab.pass(10_000);
    expect(tab.arrive("ana")).toEqual({ playsSound: true, banner: "ana", isForOpenChat: false });
  });

  it("does not count as open while a call covers the chat: another window may notify", () => {
    const tab = open({ openConversation: "ana", isCovered: true, call: "foreground" });
    expect(tab.arrive("ana")).toEqual(nothing);
    tab.here.isCovered = false;
    tab.here.call = "background";
    expect(tab.arrive("ana")).toEqual({ playsSound: false, banner: undefined, isForOpenChat: true });
  });

  it("plays only the sound for the open chat while a dialog or a picture covers it", () => {
    const tab = open({ openConversation: "ana", isCovered: true });
    expect(tab.arrive("ana")).toEqual({ playsSound: true, banner: undefined, isForOpenChat: false });
    tab.here.isCovered = false;
    tab.pass(10_000);
    expect(tab.arrive("ana")).toEqual({ playsSound: false, banner: undefined, isForOpenChat: true });
  });

  it("plays only the sound while the conversation list is shown", () => {
    const tab = open({ isListShown: true });
    expect(tab.arrive("ana")).toEqual({ playsSound: true, banner: undefined, isForOpenChat: false });
  });

  it("in a call no sound plays, and no banner shows behind its screen; no sound plays into a recording", () => {
    const tab = open({ call: "foreground" });
    expect(tab.arrive("ana")).toEqual(nothing);
    tab.here.call = "background";
    expect(tab.arrive("ana")).toEqual({ playsSound: false, banner: "ana", isForOpenChat: false });
    expect(tab.duringCall).toEqual([]);
    tab.here.call = "none";
    tab.here.isRecording = true;
    expect(tab.arrive("ana")).toEqual({ playsSound: false, banner: "ana", isForOpenChat: false });
  });
});

describe("messages that arrive during a call", () => {
  it("are notified on the call screen, visible or not, except of muted conversations", () => {
    const tab = open({ call: "foreground", openConversation: "ana", isListShown: true, isVisible: false });
    tab.here.phase = { name: "catching-up", since: startAt };
    tab.arrive("ana");
    expect(tab.duringCall).toEqual(["ana"]);
    tab.arrive("groupe", 1, { muted: true });
    expect(tab.duringCall).toEqual([]);
    tab.put("groupe", { head: 11, unread: 2, muted: false, at: tab.here.now });
    tab.arrive("ben");
    expect(tab.duringCall).toEqual(["ben", "groupe"]);
    tab.judge();
    expect(tab.duringCall).toEqual([]);
  });
});

describe("notification settings", () => {
  it("apply to people and to groups separately", () => {
    const quiet = { sound: false, preview: "text" } as const;
    const tab = open({ settings: { ...defaultSettings, messages: quiet } });
    expect(tab.arrive("ana")).toEqual({ playsSound: false, banner: "ana", isForOpenChat: false });
    // A sound that is switched off does not count towards the pause between sounds.
    expect(tab.arrive("groupe")).toEqual({ playsSound: true, banner: "groupe", isForOpenChat: false });
    tab.here.settings = { ...defaultSettings, groups: quiet };
    tab.pass(10_000);
    expect(tab.arrive("groupe").playsSound).toBe(false);
    expect(tab.arrive("ana").playsSound).toBe(true);
  });
});

describe("quiet hours", () => {
  it("silence sound and banner, and the messages are not announced afterwards", () => {
    const quietHours = { ...defaultQuietHours, isOn: true, from: 60, to: 60 };
    const tab = open({ settings: { ...defaultSettings, quietHours } });
    expect(tab.arrive("ana")).toEqual(nothing);
    tab.here.settings = defaultSettings;
    expect(tab.judge()).toMatchObject({ playsSound: false, banner: undefined });
    expect(tab.arrive("ana")).toMatchObject({ playsSound: true, banner: "ana" });
  });
});

describe("missed messages", () => {
  it("do not notify when they arrived while the page was closed", () => {
    const tab = open({ phase: { name: "opening", since: startAt } });
    expect(tab.arrive("ana", 12)).toEqual(nothing);
    tab.here.phase = { name: "synced", since: tab.here.now };
    tab.pass(10_000);
    expect(tab.arrive("ana")).toMatchObject({ playsSound: true, banner: "ana" });
  });

  it("play one sound and show no banner while the device catches up, however many batches arrive", () => {
    const tab = open();
    tab.arrive("ana");
    tab.pass(60_000);
    tab.here.phase = { name: "catching-up", since: tab.here.now };
    expect(tab.arrive("ana", 40)).toEqual({ playsSound: true, banner: undefined, isForOpenChat: false });
    for (let part = 0; part < 10; part++) {
      tab.pass(5_000);
      expect(tab.arrive("ben", 40)).toEqual(nothing);
    }
    tab.here.phase = { name: "synced", since: tab.here.now };
    tab.pass(4_000);
    expect(tab.arrive("ben")).toMatchObject({ playsSound: true, banner: "ben" });
  });
});

it("a burst, or messages in several chats at once, may be missed messages; steady messages of one author are not", () => {
  const tab = open({ phase: { name: "catching-up", since: startAt } });
  tab.arrive("ana");
  expect(tab.isBurst).toBe(false);
  tab.arrive("ana", 3);
  expect(tab.isBurst).toBe(false);
  tab.arrive("ana", 4);
  expect(tab.isBurst).toBe(true);
  tab.put("ben", { head: 5, unread: 1, at: tab.here.now });
  tab.arrive("ana");
  expect(tab.isBurst).toBe(true);
});

it("the notification sound is short and soft", () => {
  expect(Math.max(...chimeNotes.map(({ at, seconds }) => at + seconds))).toBeLessThanOrEqual(0.4);
  expect(chimeNotes.reduce((sum, { level }) => sum + level, 0)).toBeLessThan(0.3);
});
