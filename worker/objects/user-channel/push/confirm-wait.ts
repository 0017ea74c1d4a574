import { pushBackgroundWaitMs, pushConfirmMs } from "#contract/limits/push.ts";
import type { DeviceConnection } from "#worker/objects/user-channel/sockets/socket-registry.ts";

/**
 * How long a device may take to show what it received, in milliseconds, before it is pushed. A page in the background
 * shows nothing, so a connected device only gets the time to come to the foreground.
 */
export const toConfirmWaitMs = (connection: DeviceConnection | undefined): number => {
  if (!connection) return 0;
  return connection.isForeground ? pushConfirmMs : pushBackgroundWaitMs;
};
