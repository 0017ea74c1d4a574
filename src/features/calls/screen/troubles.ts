import type { MediaView } from "#calls/media/media-session.ts";
import type { CallView } from "#calls/views.ts";
import type { TextKey } from "#i18n/setup.ts";

/** Something of the media that a person should know, the gravest first. */
export type Trouble = {
  key: TextKey;
  tone: "danger" | "plain";
  remedy?: "camera";
  /** Only when it lasts. */
  isLate?: true;
};

const mic: Partial<Record<MediaView["mic"], TextKey>> = {
  refused: "calls.notice.micRefused",
  missing: "calls.notice.micMissing",
  taken: "calls.notice.micTaken",
};
const camera: Partial<Record<MediaView["camera"], TextKey>> = {
  refused: "calls.notice.cameraRefused",
  missing: "calls.notice.cameraMissing",
  taken: "calls.notice.cameraTaken",
  unwanted: "calls.notice.cameraUnwanted",
};

/** What worked in this call before: what is missing then was unplugged. */
export type Worked = { mic: boolean; camera: boolean };

export const workedAfter = (before: Worked, { mic, camera }: MediaView): Worked => {
  const after = {
    mic: before.mic || mic === "on" || mic === "muted",
    camera: before.camera || ["on", "thin", "unwanted"].includes(camera),
  };
  return after.mic === before.mic && after.camera === before.camera ? before : after;
};

const peerTrouble = ({ peer }: MediaView): Trouble | undefined => {
  if (!peer.hasMic) return { key: "calls.notice.peerNoMic", tone: "plain" };
  return peer.isMuted ? { key: "calls.notice.peerMuted", tone: "plain" } : undefined;
};

const peerPicture = ({ peer, camera, isVoiceOnly }: MediaView): Trouble | undefined => {
  // Where this side's camera is on, that says more.
  if (peer.isVoiceOnly) return camera === "unwanted" ? undefined : { key: "calls.notice.peerVoiceOnly", tone: "plain" };
  return peer.isCameraOff && !isVoiceOnly ? { key: "calls.notice.peerCameraOff", tone: "plain" } : undefined;
};

/** What is said of this side's and the other side's media. Before a call that rings is taken there is nothing to say. */
export const troublesOf = ({ state, media }: CallView, worked: Worked, isAway = false): Trouble[] => {
  if (state.at === "ringing" || state.at === "ended") return [];
  const isUp = state.at === "connected";
  const found: (Trouble | undefined)[] = [
    media.mic === "missing" && worked.mic
      ? { key: "calls.notice.micUnplugged", tone: "danger" }
      : mic[media.mic] && { key: mic[media.mic] as TextKey, tone: "danger" },
    media.mic === "waiting" ? { key: "calls.notice.micWaiting", tone: "plain", isLate: true } : undefined,
    isUp && media.isUnheard && media.mic === "on" ? { key: "calls.notice.unheard", tone: "danger" } : undefined,
  ];
  if (state.call.kind === "video") {
    found.push(
      media.camera === "thin" ? { key: "calls.notice.thin", tone: "plain", remedy: "camera" } : undefined,
      media.camera === "missing" && worked.camera
        ? { key: "calls.notice.cameraUnplugged", tone: "plain" }
        : camera[media.camera] && { key: camera[media.camera] as TextKey, tone: "plain" },
      media.camera === "waiting" && media.mic !== "waiting"
        ? { key: "calls.notice.cameraWaiting", tone: "plain", isLate: true }
        : undefined,
      media.isSeenAgain ? { key: "calls.notice.seenAgain", tone: "plain" } : undefined,
    );
  }
  if (isUp && isAway) found.push({ key: "calls.notice.away", tone: "plain" });
  if (isUp && state.lostAt === undefined) {
    found.push(
      peerTrouble(media),
      state.call.kind === "video" ? peerPicture(media) : undefined,
      media.quality === 1 && media.camera !== "thin" ? { key: "calls.notice.weak", tone: "plain" } : undefined,
    );
  }
  return found.filter((trouble) => trouble !== undefined);
};
