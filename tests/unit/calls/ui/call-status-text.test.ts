import { describe, expect, test } from "vitest";
import type { MediaView } from "#calls/media/media-session.ts";
import { tonePatterns } from "#calls/tones/tones.ts";
import { getCallBarStatusKey, getCallStatusKey } from "#calls/ui/call-status-text.ts";
import { formatDataRate, formatMegabytes } from "#calls/ui/data-cost.ts";
import type { CallView } from "#calls/views.ts";
import type { CallKind } from "#contract/calls/call.ts";
import type { CallError, CallNoticeType, LocalCall } from "#contract/calls/local-call.ts";
import { createUuid } from "#contract/ids.ts";
import { toCallNoticeText } from "#features/calls/host/call-notices.ts";
import { listCallWarnings, updateWorkingDevices } from "#features/calls/screen/call-warnings.ts";
import en from "#i18n/en.json";
import fr from "#i18n/fr.json";
import { createTranslate } from "#i18n/setup.ts";

type State = CallView["state"];

const makeCall = (kind: CallKind, isCaller = true): LocalCall => ({
  id: createUuid(),
  conversation: "a.b",
  peer: createUuid(),
  kind,
  isCaller,
});
const textOf = (key: string): unknown =>
  key.split(".").reduce<unknown>((texts, name) => (texts as Record<string, unknown>)[name], fr);
const connected = (kind: CallKind, lostAt?: number): Extract<State, { phase: "connected" }> => ({
  phase: "connected",
  call: makeCall(kind),
  since: 0,
  interruptedAt: lostAt,
});
const ended = (end: object, isCaller = true) =>
  ({ phase: "ended", call: makeCall("audio", isCaller), status: "ended", seconds: 0, ...end }) as Extract<
    State,
    { phase: "ended" }
  >;

describe("the status of a call", () => {
  test("is a short text that distinguishes dialling from connected calls", () => {
    const expected: [Exclude<State, { phase: "ended" }>, string][] = [
      [{ phase: "outgoing", call: makeCall("audio"), until: 0, isRegistered: true }, "Appel..."],
      [{ phase: "outgoing", call: makeCall("audio"), until: 0, isRegistered: true, peer: "ringing" }, "Ça sonne..."],
      [{ phase: "ringing", call: makeCall("audio", false), until: 0 }, "Appel audio entrant"],
      [{ phase: "ringing", call: makeCall("video", false), until: 0 }, "Appel vidéo entrant"],
      [{ phase: "connecting", call: makeCall("audio"), until: 0 }, "Connexion..."],
      [connected("audio", 1), "Reconnexion..."],
    ];
    for (const [state, text] of expected) expect(textOf(getCallStatusKey(state))).toBe(text);
  });

  test("tells in the bar of a minimised call that the other phone seems asleep", () => {
    const outgoing = { phase: "outgoing", call: makeCall("audio"), until: 0, isRegistered: true } as const;
    const texts = ([undefined, "ringing", "asleep"] as const).map((peer) =>
      textOf(getCallBarStatusKey({ ...outgoing, peer })),
    );
    expect(texts).toEqual(["Appel...", "Ça sonne...", "Le téléphone semble en veille"]);
    expect(textOf(getCallStatusKey({ ...outgoing, peer: "asleep" }))).toBe("Appel..."); // the screen has a warning
  });
});

describe("texts of failed and ended calls", () => {
  const saying = (notice: CallNoticeType, error?: CallError) =>
    toCallNoticeText({ notice, error, peer: createUuid() }, "Ben", createTranslate("fr", fr));

  test("are the specified words with the reason", () => {
    const t = createTranslate("en", en);
    const english = (["rejected", "unanswered", "failed", "acceptFailed", "error"] as const).map(
      (notice) => toCallNoticeText({ notice, peer: createUuid() }, "Ben", t).title,
    );
    expect(english).toEqual([
      "Call Rejected",
      "Call not answered",
      "Call Failed",
      "Failed to accept call",
      "Call Error",
    ]);
    expect(saying("error").message).toBe("La connexion avec Ben est perdue.");
    expect(saying("rejected").message).toBe("Ben a refusé l'appel.");
    expect(saying("failed", "offline").message).toBe(fr.errors.offline);
    // A server that answers without a call gives no reason of its own.
    const unanswered = (notice: "failed" | "acceptFailed") =>
      toCallNoticeText({ notice, error: "unavailable", peer: createUuid() }, "Ben", t).message;
    expect(unanswered("failed")).toBe("Failed to create call on server.");
    expect(unanswered("acceptFailed")).toBe("Call data is missing.");
    expect(saying("acceptFailed", "call_not_found").message).toBe(fr.errors.call_not_found);
  });

  test("tell that a call is in progress rather than failed, and what to do if it is on another device that may be off", () => {
    expect(saying("failed", "call_in_progress")).toEqual({
      title: "Appel en cours",
      message: fr.calls.say.elsewhereBody,
    });
    expect(saying("inProgress")).toEqual({
      title: "Appel en cours",
      message: "Terminez d'abord l'appel en cours.",
    });
    expect(saying("acceptFailed", "call_in_progress")).toMatchObject({ tone: "danger" });
  });
});

describe("notices about microphones, cameras and the connection", () => {
  const fine = { isMuted: false, hasMic: true, hasVideo: true, isCameraOff: false, isVoiceOnly: false };
  const media = (more: Partial<MediaView> = {}): MediaView => ({
    mic: "on",
    camera: "on",
    local: undefined,
    remote: undefined,
    isVideoRestored: false,
    isVoiceOnly: false,
    peer: fine,
    quality: 3,
    bytes: 0,
    isMicInaudible: false,
    ...more,
  });
  const fresh = { mic: false, camera: false };
  const keys = (state: State, more: Partial<MediaView>, worked = fresh) =>
    listCallWarnings({ state, media: media(more), devices: {}, isMinimized: false }, worked).map(({ key }) => key);

  test("are absent if all is well, while the call rings and after it ended", () => {
    expect(keys(connected("video"), {})).toEqual([]);
    const bad: Partial<MediaView> = { mic: "refused", camera: "missing", quality: 1, isMicInaudible: true };
    expect(keys({ phase: "ringing", call: makeCall("video", false), until: 0 }, bad)).toEqual([]);
    expect(keys(ended({}), bad)).toEqual([]);
  });

  test("offer a voice message while the phone of the called person seems asleep", () => {
    const outgoing = { phase: "outgoing", call: makeCall("audio"), until: 0, isRegistered: true } as const;
    const asleep: State = { ...outgoing, peer: "asleep" };
    const [warning, ...more] = listCallWarnings(
      { state: asleep, media: media(), devices: {}, isMinimized: false },
      fresh,
    );
    expect(warning).toMatchObject({ key: "calls.notice.peerAsleep", remedy: "voiceMessage" });
    expect(more).toEqual([]);
    for (const state of [outgoing, { ...outgoing, peer: "ringing" } as const]) expect(keys(state, {})).toEqual([]);
  });

  test("report the microphone before the camera, and the camera only in a video call", () => {
    const both: Partial<MediaView> = { mic: "refused", camera: "taken" };
    expect(keys(connected("video"), both)).toEqual(["calls.notice.micRefused", "calls.notice.cameraTaken"]);
    expect(keys(connected("audio"), both)).toEqual(["calls.notice.micRefused"]);
  });

  test("report a device that worked before and is missing now as unplugged", () => {
    const before = updateWorkingDevices(fresh, media({ mic: "muted", camera: "lowBandwidth" }));
    const gone: Partial<MediaView> = { mic: "missing", camera: "missing" };
    expect(keys(connected("video"), gone, fresh)).toEqual(["calls.notice.micMissing", "calls.notice.cameraMissing"]);
    expect(keys(connected("video"), gone, before)).toEqual([
      "calls.notice.micUnplugged",
      "calls.notice.cameraUnplugged",
    ]);
    expect(updateWorkingDevices(before, media(gone))).toBe(before);
  });

  test("offer to restore video that a slow connection stopped, and report the slow connection once", () => {
    const [trouble, ...more] = listCallWarnings(
      {
        state: connected("video"),
        media: media({ camera: "lowBandwidth", quality: 1 }),
        devices: {},
        isMinimized: false,
      },
      fresh,
    );
    expect(trouble).toMatchObject({ key: "calls.notice.thin", remedy: "camera" });
    expect(more).toEqual([]);
  });

  test("distinguish a muted side from one without microphone, and report neither while nothing arrives", () => {
    const peer = (isMuted: boolean, hasMic: boolean) => ({ peer: { ...fine, isMuted, hasMic, hasVideo: false } });
    expect(keys(connected("audio"), peer(true, true))).toEqual(["calls.notice.peerMuted"]);
    for (const isMuted of [true, false]) {
      expect(keys(connected("audio"), peer(isMuted, false))).toEqual(["calls.notice.peerNoMic"]);
      expect(keys(connected("audio", 1), peer(isMuted, false))).toEqual([]);
    }
  });

  test("report in a video call that the other side switched its camera off, or takes audio only", () => {
    const off: Partial<MediaView> = { peer: { ...fine, hasVideo: false, isCameraOff: true } };
    expect(keys(connected("video"), off)).toEqual(["calls.notice.peerCameraOff"]);
    expect(keys(connected("audio"), off)).toEqual([]);
    expect(keys(connected("video"), { ...off, isVoiceOnly: true, camera: "off" })).toEqual([]); // Video is not wanted here.
    const alone = { peer: { ...fine, hasVideo: false, isCameraOff: true, isVoiceOnly: true } };
    expect(keys(connected("video"), { ...alone, camera: "unwanted" })).toEqual(["calls.notice.cameraUnwanted"]);
    expect(keys(connected("video"), { ...alone, camera: "off" })).toEqual(["calls.notice.peerVoiceOnly"]);
    expect(keys(connected("video"), { isVideoRestored: true })).toEqual(["calls.notice.seenAgain"]);
  });

  test("do not report an unheard microphone while it is muted", () => {
    expect(keys(connected("audio"), { isMicInaudible: true })).toEqual(["calls.notice.unheard"]);
    expect(keys(connected("audio"), { isMicInaudible: true, mic: "muted" })).toEqual([]);
  });
});

describe("call tones", () => {
  test("follow the French ringback cadence and fit their loops", () => {
    expect(tonePatterns.ringback).toMatchObject({ periodSeconds: 5, notes: [{ at: 0, seconds: 1.5, pitches: [425] }] });
    for (const { notes, periodSeconds } of Object.values(tonePatterns)) {
      for (const { at, seconds, level } of notes) {
        expect(at + seconds).toBeLessThanOrEqual(periodSeconds);
        expect(level).toBeLessThan(0.5);
      }
    }
  });

  test("end by themselves only if the other side is busy", () => {
    expect([tonePatterns.busy.repeats, tonePatterns.ringtone.repeats, tonePatterns.ringback.repeats]).toEqual([
      4,
      undefined,
      undefined,
    ]);
  });
});

test("data usage is shown on one line in the unit by which it is sold", () => {
  for (const language of ["fr", "en", "pt"] as const) {
    expect(formatMegabytes(300_000, language) + formatDataRate("video", language)).not.toContain(" ");
  }
  const plain = (text: string) => text.replace(/\s/gu, " ");
  expect(plain(formatMegabytes(300_000, "fr"))).toBe("0,3 Mo");
  expect(plain(formatMegabytes(12_340_000, "en"))).toBe("12.3 MB");
  expect(plain(formatMegabytes(2_800_000, "pt"))).toBe("2,8 MB");
});
