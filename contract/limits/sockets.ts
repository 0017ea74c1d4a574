/** Limits and timings of sockets, frames and commands. */

// Frames and request bodies
export const frameMaxBytes = 64 * 1024;
export const joinedFramesMax = 32; // frames of a device in one batch
export const bodyMaxBytes = 256 * 1024; // any JSON request body

// Sockets
export const socketsPerUserMax = 64;
export const pingVisibleMs = 25_000;
export const pingHiddenMs = 50_000;
export const pongTimeoutMs = 10_000;
export const probeAfterActivityMs = 3_000;
export const malformedFramesMax = 5; // within malformedWindowMs before the socket is closed
export const malformedWindowMs = 10_000;
export const helloTimeoutMs = 30_000; // a socket without a hello by then is closed; a device gives up after 20 s

// Flow control of one socket: unconfirmed data
export const creditMessages = 400;
export const creditBytes = 256 * 1024;
export const pageCreditMessages = 400; // the same for requested pages, whose bytes have a credit like those of pushes
export const creditReportMessages = 200; // a device confirms at least this often
export const behindMaxMs = 60_000; // a socket that stays behind longer is closed

// Frames and commands in tokens (costs: worker/objects/user-channel/frames/frame-costs.ts), per socket, and per person
// over all sockets and HTTP. A device that was offline for long and catches up with 500 conversations uses about 1,000.
export const socketTokensBurst = 1_000;
export const socketTokensPerSecond = 50;
export const userTokensBurst = 1_200;
export const userTokensPerSecond = 100;
export const frameTokenBytes = 4 * 1024; // bytes of a message for each further token

// Messages refused before decoding: each costs a token, and one more for every `frameTokenBytes`. A socket without
// tokens is closed; the close reason says how long to wait. A person whose devices keep sending on closed sockets loses
// all sockets and opens none for a while, since the platform cannot stop reading a single socket.
export const refusedMessagesBurst = 1_000;
export const refusedMessagesPerSecond = 10;
export const closedMessagesMax = 500; // messages on closed sockets; as many may be in flight when the close arrives
export const floodPauseMs = 30_000;

// Sessions and running commands of one socket
export const sessionCheckMs = 10 * 60_000; // after opening, and between two checks of the session
export const commandsAtOnce = 8; // other commands queue and are dropped with their socket
