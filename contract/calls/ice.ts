import * as v from "valibot";

/** STUN or TURN server, in the form RTCPeerConnection takes. */
export const IceServer = v.object({
  urls: v.array(v.string()),
  username: v.exactOptional(v.string()),
  credential: v.exactOptional(v.string()),
});
export type IceServer = v.InferOutput<typeof IceServer>;

/** Response of `GET /api/calls/:id/ice`. */
export const IceServers = v.object({
  ice_servers: v.array(IceServer),
  /** Lifetime of the credentials in seconds. */
  ttl: v.number(),
  /** Whether the list contains a TURN server. */
  relays: v.boolean(),
  /**
   * Whether this device may only use relayed candidates, so that the other person does not learn its IP address
   * (`iceTransportPolicy: "relay"`): the two are new to each other, or this person hides the address from everybody.
   * Always false on a server without TURN. If TURN is configured but currently provides nothing (`relays` is false),
   * the call cannot connect.
   */
  hide: v.boolean(),
});
export type IceServers = v.InferOutput<typeof IceServers>;
