import { createDefaultPreferences, type MediaPreferences } from "#calls/media/media-preferences.ts";
import type { MediaView } from "#calls/media/media-session.ts";
import { createPeerMedia } from "#calls/media/peer-media.ts";

/** One side of a call alone in a page: the media session, an element that plays the received media, and its events. */
export type CallSideOptions = {
  device: string;
  isPolite: boolean;
  isCaller: boolean;
  kind: "audio" | "video";
  isDataSaver?: boolean;
  /** Overrides the default preferences of this call kind. */
  choices?: Partial<MediaPreferences>;
  iceServers?: RTCIceServer[];
  isHidden?: boolean;
};

export type Received = { packets: number; energy: number; samples: number; concealed: number; frames: number };

declare global {
  interface Window {
    /** Sends a signal; bound by the test. */
    post(from: string, to: string | null, signal: string): Promise<void>;
    side: ReturnType<typeof makeSide>;
    makeSide: typeof makeSide;
  }
}

/** Every peer connection of the page, so that a test can count and break them. */
const connections: RTCPeerConnection[] = [];
const Native = window.RTCPeerConnection;
window.RTCPeerConnection = class extends Native {
  constructor(configuration?: RTCConfiguration) {
    super(configuration);
    connections.push(this);
  }
};

const tickMs = 50;

const isOpen = (pc: RTCPeerConnection): boolean => pc.signalingState !== "closed";

const makeSide = ({
  device,
  iceServers = [],
  isHidden = false,
  isDataSaver = false,
  kind,
  choices,
  ...options
}: CallSideOptions) => {
  const events: { at: number; lived: number; what: string }[] = [];
  let lived = 0;
  setInterval(() => {
    lived += tickMs;
  }, tickMs);
  // A <video> plays no sound before it has a picture.
  const player = document.body.appendChild(document.createElement("audio"));
  player.autoplay = true;
  const screen = document.body.appendChild(document.createElement("video"));
  screen.autoplay = true;
  screen.muted = true;
  let view: MediaView | undefined;
  const say = (what: string) => () => {
    events.push({ at: performance.timeOrigin + performance.now(), lived, what });
  };
  const plane = createPeerMedia(
    {
      ...options,
      deviceId: device,
      isDataSaver,
      preferences: { ...createDefaultPreferences(kind), ...choices },
      fetchIceServers: () =>
        Promise.resolve({
          ice_servers: iceServers.map((server) => ({ ...server, urls: [server.urls].flat() })),
          ttl: 3600,
          relays: iceServers.length > 0,
          hide: isHidden,
        }),
    },
    {
      audioReceived: say("heard"),
      interrupted: say("interrupted"),
      failed: say("failed"),
      peerHungUp: say("left"),
      connectionSuspected: say("suspect"),
      viewChanged: (next) => {
        view = next;
        if (next.peer.isMuted || !next.peer.hasMic) say("voiceless")();
        for (const element of [player, screen]) {
          if (element.srcObject !== (next.remote ?? null)) element.srcObject = next.remote ?? null;
        }
      },
      sendSignal: (to, signal) => void window.post(device, to, signal),
    },
  );
  const open = () => connections.filter(isOpen);
  const stats = async () => [...((await open().at(-1)?.getStats()) ?? new Map()).values()];
  return {
    plane,
    said: () => events,
    /**
     * Milliseconds in which the page's event loop ran. Time in which a busy machine did something else does not count.
     */
    lived: () => lived,
    view: () =>
      view && { ...view, local: view.local?.getTracks().length ?? 0, remote: view.remote?.getTracks().length ?? 0 },
    connections: () => open().length,
    states: () => open().map((pc) => pc.connectionState),
    transceivers: () => open().map((pc) => pc.getTransceivers().length),
    restart: () => open().at(-1)?.restartIce(),
    generation: () => /a=ice-ufrag:(\S+)/.exec(open().at(-1)?.localDescription?.sdp ?? "")?.[1],
    /** Stops sending the voice without the page noticing. */
    loseVoice: () =>
      open()
        .at(-1)
        ?.getSenders()
        .find(({ track }) => track?.kind === "audio")
        ?.replaceTrack(null),
    sentTracks: () => open().flatMap((pc) => pc.getSenders().map(({ track }) => track?.kind ?? "none")),
    /** Ends the microphone track, as unplugging does. */
    pullMicrophone: () => {
      const track = open()
        .at(-1)
        ?.getSenders()
        .find(({ track }) => track?.kind === "audio")?.track;
      track?.stop();
      track?.dispatchEvent(new Event("ended"));
      return track?.id;
    },
    microphone: () =>
      open()
        .at(-1)
        ?.getSenders()
        .find(({ track }) => track?.kind === "audio")?.track?.id,
    heard: async (): Promise<Received> => {
      const inbound = (await stats()).filter(({ type }) => type === "inbound-rtp");
      const audio = inbound.find(({ kind }) => kind === "audio") ?? {};
      const video = inbound.find(({ kind }) => kind === "video") ?? {};
      return {
        packets: audio.packetsReceived ?? 0,
        energy: audio.totalAudioEnergy ?? 0,
        samples: audio.totalSamplesReceived ?? 0,
        concealed: (audio.concealedSamples ?? 0) - (audio.silentConcealedSamples ?? 0),
        frames: video.framesDecoded ?? 0,
      };
    },
    stats,
  };
};

window.makeSide = makeSide;
