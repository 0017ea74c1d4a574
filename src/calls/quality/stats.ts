/** What one look at a peer connection's statistics says, counted since the look before where that makes sense. */
export type StatsSample = {
  /** Inbound packets of voice so far. */
  packets: number;
  /** Both ways since the look before, headers of UDP and IP included. */
  bytes: number;
  /** 0 to 1, since the look before. */
  inLoss: number;
  concealed: number;
  /** What the other side reported last of what is sent. */
  outLoss: number | undefined;
  rttMs: number | undefined;
  estimate: number | undefined;
  /** Bits a second that the browser gives the pictures of now. */
  videoTargetBitrate: number | undefined;
  /** It goes through a relay of this side's. */
  isRelayed: boolean;
  /** How loud it was, as a mean of squares: what comes, and this side's microphone. */
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

/** Counters of one peer connection, remembered from one look to the next. */
export class StatsReader {
  readonly #previous = new Map<string, number>();

  read(report: Iterable<Stat>): StatsSample {
    const stats = [...report];
    const find = (type: string, kind?: string) =>
      stats.find((stat) => stat["type"] === type && (kind === undefined || stat["kind"] === kind));
    const heard = find("inbound-rtp", "audio");
    const spoken = find("media-source", "audio");
    const told = find("remote-inbound-rtp", "audio");
    const pair =
      stats.find((stat) => stat["id"] === find("transport")?.["selectedCandidatePairId"]) ??
      stats.find((stat) => stat["type"] === "candidate-pair" && stat["nominated"] === true);
    const own = stats.find((stat) => stat["id"] !== undefined && stat["id"] === pair?.["localCandidateId"]);
    const carrier = find("transport") ?? pair; // Firefox counts by pair
    const since = (name: string, stat: Stat | undefined, key: string) => this.#delta(name, readNumber(stat, key));
    const received = since("received", heard, "packetsReceived");
    const lost = Math.max(0, since("lost", heard, "packetsLost"));
    const samples = since("samples", heard, "totalSamplesReceived");
    const hidden = since("hidden", heard, "concealedSamples") - since("silent", heard, "silentConcealedSamples");
    const counted =
      since("bytesSent", carrier, "bytesSent") +
      since("bytesReceived", carrier, "bytesReceived") +
      packetOverhead * (since("packetsSent", carrier, "packetsSent") + since("packetsIn", carrier, "packetsReceived"));
    const rtt = findNumber(told, "roundTripTime") ?? findNumber(pair, "currentRoundTripTime");
    const heardFor = since("heardFor", heard, "totalSamplesDuration");
    const spokenFor = since("spokenFor", spoken, "totalSamplesDuration");
    const heardEnergy = since("heardEnergy", heard, "totalAudioEnergy");
    const spokenEnergy = since("spokenEnergy", spoken, "totalAudioEnergy");
    return {
      packets: readNumber(heard, "packetsReceived"),
      bytes: Math.max(0, counted),
      inLoss: received + lost > 0 ? lost / (received + lost) : 0,
      concealed: samples > 0 ? Math.min(1, Math.max(0, hidden / samples)) : 0,
      outLoss: findNumber(told, "fractionLost"),
      rttMs: rtt === undefined ? undefined : rtt * 1000,
      estimate: findNumber(pair, "availableOutgoingBitrate"),
      videoTargetBitrate: findNumber(find("outbound-rtp", "video"), "targetBitrate"),
      isRelayed: own?.["candidateType"] === "relay",
      heardEnergy: heardFor > 0 ? heardEnergy / heardFor : 0,
      spokenEnergy: spokenFor > 0 ? spokenEnergy / spokenFor : 0,
    };
  }

  /** A counter that went back is another one. */
  #delta(name: string, value: number): number {
    const last = this.#previous.get(name) ?? 0;
    this.#previous.set(name, value);
    return value < last ? value : value - last;
  }
}

/** From bad (1) to good (3), over the looks of two seconds. */
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
