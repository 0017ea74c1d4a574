import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { countryCodeOf } from "#contract/phone/phone-text.ts";
import { defaultSettings, Settings, SettingsChange } from "#contract/settings/settings.ts";
import { encodeAppFrame, toAppFrame } from "#contract/wire/app-frames.ts";
import { decodeClientFrames, listMalformedRefs, toCommand } from "#contract/wire/client-frames.ts";
import { toHttpRequest } from "#contract/wire/http-commands.ts";
import { decodeServerFrame } from "#contract/wire/server-frames.ts";

describe("settings", () => {
  it("a change lists only changed settings, and unknown settings are refused", () => {
    expect(v.is(SettingsChange, {})).toBe(true);
    expect(v.is(SettingsChange, { receipts: false, groups: { sound: false, preview: true } })).toBe(true);
    for (const wrong of [{ version: 1 }, { findable: "all" }, { groups: { sound: false } }, { tala: 1 }, null])
      expect(v.is(SettingsChange, wrong)).toBe(false);
  });

  it("are encoded completely, and refused with a missing setting", () => {
    const frame = ["s", 3, { version: 2, settings: defaultSettings }] as const;
    expect(decodeServerFrame(JSON.stringify(frame))).toMatchObject({ type: "settings", kept: frame[2] });
    const { tala: _, ...less } = defaultSettings;
    expect(decodeServerFrame(JSON.stringify(["s", 3, { version: 2, settings: less }]))).toBeUndefined();
    // Settings stored before this field existed get its default.
    const { hidesAddress, ...before } = defaultSettings;
    expect(v.parse(Settings, before)).toEqual({ ...before, hidesAddress });
    const { quietHours, ...earlier } = defaultSettings;
    expect(v.parse(Settings, earlier)).toEqual({ ...earlier, quietHours });
    const { reactions, ...older } = defaultSettings;
    expect(v.parse(Settings, older)).toEqual({ ...older, reactions });
    // Preview levels were booleans.
    const [on, off] = [true, false].map((preview) => ({ sound: true, preview }));
    const parsed = v.parse(Settings, { ...defaultSettings, messages: on, groups: off });
    expect([parsed.messages.preview, parsed.groups.preview]).toEqual(["text", "name"]);
  });
});

describe("presence", () => {
  it("is requested by the same command over both transports", () => {
    const command = { type: "presence", conversation: "a.b" } as const;
    expect(encodeAppFrame(toAppFrame(command, 7, 4))).toBe('["L",7,4]');
    expect(toCommand({ type: "presence", ref: 7, conversation: 4 }, "a.b")).toEqual(command);
    expect(toHttpRequest(command)).toEqual({ method: "GET", path: "/api/conversations/a.b/presence" });
  });

  it("is answered with a time or none, and a report of being viewed has no answer", () => {
    const answer = { type: "presence", ref: 7 };
    expect(decodeServerFrame('["L",7,0,-5000]')).toEqual({ ...answer, here: false, seen_at: -5000 });
    expect(decodeServerFrame('["L",7,1,null]')).toEqual({ ...answer, here: true, seen_at: null });
    expect(decodeServerFrame('["L",7,true,null]')).toBeUndefined();
    expect(decodeClientFrames('["l",1]')).toEqual([{ type: "foreground", isForeground: true }]);
    expect(decodeClientFrames('["l",true]')).toBeUndefined();
    expect(listMalformedRefs('["l",2]')).toEqual([]);
    expect(listMalformedRefs('["L",9,-1]')).toEqual([9]);
  });
});

describe("the country of a phone number", () => {
  it.each([
    ["+243810000001", "243"],
    ["+242060000001", "242"],
    ["+33600000001", "33"],
    ["+32470000001", "32"],
    ["+351910000001", "351"],
    ["+244920000001", "244"],
    ["+12025550123", "1"],
    ["+79001234567", "7"],
    ["+27821234567", "27"],
    ["+211912345678", "211"],
    ["+4479001234567", "44"],
  ])("%s starts with %s", (phone, code) => expect(countryCodeOf(phone)).toBe(code));
});
