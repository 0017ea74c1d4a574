/** Statistics of a peer connection at one sampling, as differences to the previous one where that makes sense. */
export type StatsSample = {
  /** Audio packets received so far. */
  packets: number;
  /** Bytes sent and received since the previous sample, UDP and IP headers included. */
  bytes: number;
  /** 0 to 1, since the previous sample. */
  inLoss: number;
  concealed: number;
  /** Loss of sent packets as last reported by the other side. */
  outLoss: number | undefined;
  rttMs: number | undefined;
  estimate: number | undefined;
  /** Target bitrate of the current video in bit/s. */
  videoTargetBitrate: number | undefined;
  /** Whether the connection uses a relay of this side. */
  isRelayed: boolean;
  /** Mean square loudness of the received audio and of the local microphone. */
  heardEnergy: number;
  spokenEnergy: number;
};

const packetOverhead = 28; // UDP and IPv4

type Stat = Readonly<Record<string, unknown>>;

const readNumber = (stat: Stat | undefined, key: string): number => {
  const value = stat?.[key];
  return typeof value === "number" ? value : 0;
};
const findNumber = (stat: Stat | undefined, key: string): number | undefined => {
  const value = stat?.[key];
  return typeof value === "number" ? value : undefined;
};

/** Reads the statistics of one peer connection and keeps its counters between samples. */
export class StatsReader {
  readonly #previous = new Map<string, number>();

  read(report: Iterable<Stat>): StatsSample {
    const stats = [...report];
    const find = (type: string, kind?: string) =>
      stats.find((stat) => stat["type"] === type && (kind === undefined || stat["kind"] === kind));
    const inbound = find("inbound-rtp", "audio");
    const microphone = find("media-source", "audio");
    const remoteInbound = find("remote-inbound-rtp", "audio");
    const pair =
      stats.find((stat) => stat["id"] === find("transport")?.["selectedCandidatePairId"]) ??
      stats.find((stat) => stat["type"] === "candidate-pair" && stat["nominated"] === true);
    const localCandidate = stats.find((stat) => stat["id"] !== undefined && stat["id"] === pair?.["localCandidateId"]);
    const transport = find("transport") ?? pair; // Firefox counts per candidate pair
    const since = (name: string, stat: Stat | undefined, key: string) => this.#delta(name, readNumber(stat, key));
    const received = since("received", inbound, "packetsReceived");
    const lost = Math.max(0, since("lost", inbound, "packetsLost"));
    const samples = since("samples", inbound, "totalSamplesReceived");
    const concealedSamples =
      since("hidden", inbound, "concealedSamples") - since("silent", inbound, "silentConcealedSamples");
    const bytes =
      since("bytesSent", transport, "bytesSent") +
      since("bytesReceived", transport, "bytesReceived") +
      packetOverhead *
        (since("packetsSent", transport, "packetsSent") + since("packetsIn", transport, "packetsReceived"));
    const rtt = findNumber(remoteInbound, "roundTripTime") ?? findNumber(pair, "currentRoundTripTime");
    const heardFor = since("heardFor", inbound, "totalSamplesDuration");
    const spokenFor = since("spokenFor", microphone, "totalSamplesDuration");
    const heardEnergy = since("heardEnergy", inbound, "totalAudioEnergy");
    const spokenEnergy = since("spokenEnergy", microphone, "totalAudioEnergy");
    return {
      packets: readNumber(inbound, "packetsReceived"),
      bytes: Math.max(0, bytes),
      inLoss: received + lost > 0 ? lost / (received + lost) : 0,
      concealed: samples > 0 ? Math.min(1, Math.max(0, concealedSamples / samples)) : 0,
      outLoss: findNumber(remoteInbound, "fractionLost"),
      rttMs: rtt === undefined ? undefined : rtt * 1000,
      estimate: findNumber(pair, "availableOutgoingBitrate"),
      videoTargetBitrate: findNumber(find("outbound-rtp", "video"), "targetBitrate"),
      isRelayed: localCandidate?.["candidateType"] === "relay",
      heardEnergy: heardFor > 0 ? heardEnergy / heardFor : 0,
      spokenEnergy: spokenFor > 0 ? spokenEnergy / spokenFor : 0,
    };
  }

  /** A counter that decreased belongs to a new stream. */
  #delta(name: string, value: number): number {
    const last = this.#previous.get(name) ?? 0;
    this.#previous.set(name, value);
    return value < last ? value : value - last;
  }
}

/** Rates the last two seconds of samples from bad (1) to good (3); 0 while unknown. */
export const rateQuality = (samples: readonly StatsSample[]): 0 | 1 | 2 | 3 => {
  const last = samples.at(-1);
  if (!last || last.packets === 0) return 0;
  const mean = (key: "inLoss" | "concealed") => samples.reduce((sum, sample) => sum + sample[key], 0) / samples.length;
  const loss = Math.max(mean("inLoss"), last.outLoss ?? 0);
  const concealed = mean("concealed");
  const rttMs = last.rttMs ?? 0;
  if (loss > 0.1 || concealed > 0.1 || rttMs > 1_000) return 1;
  return loss > 0.03 || concealed > 0.03 || rttMs > 400 ? 2 : 3;
};
