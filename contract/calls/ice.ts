import * as v from "valibot";

/** What helps two devices find a way to each other, as RTCPeerConnection takes it: a STUN server, or a relay (TURN). */
export const IceServer = v.object({
  urls: v.array(v.string()),
  username: v.exactOptional(v.string()),
  credential: v.exactOptional(v.string()),
});
export type IceServer = v.InferOutput<typeof IceServer>;

/** The answer of `GET /api/calls/:id/ice`. */
export const IceServers = v.object({
  ice_servers: v.array(IceServer),
  /** Seconds for which the credentials hold. */
  ttl: v.number(),
  /** There is a relay among them. */
  relays: v.boolean(),
  /**
   * Only relayed ways for this device, so that the other person does not learn its address (`iceTransportPolicy: "relay"`):
   * the two are new to each other, or its person wants it so with everybody. Never where no relay is set up; where one
   * is and gives nothing just now (`relays` is false), the call cannot be had.
   */
  hide: v.boolean(),
});
export type IceServers = v.InferOutput<typeof IceServers>;
