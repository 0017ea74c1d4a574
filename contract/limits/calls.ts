/** Limits and timings of calls. */

// Ringing
export const callRingMs = 30_000; // ringing time on both sides
export const callAsleepMs = 10_000; // the callee's phone seems asleep if no device reported to ring for this long
export const callLongRingMs = 45_000; // ringing time on both sides in that case
export const callRecoverMs = 2_000; // time for a restarted conversation to find out whether the call rings on a device

// Connection
export const callConnectMs = 15_000; // time to establish media after the answer
export const callReconnectMs = 10_000; // time for a reloading page to reconnect on a slow network
export const callServerWaitMs = 3_000; // how long a device then waits for the server's decision
export const callHeartbeatMs = 20_000; // heartbeat interval of a connected call
export const callHeardWriteMs = 30_000; // maximum delay of written heartbeat times
export const callSilentMaxMs = 60_000; // a call without heartbeats for this long is over
export const callStaleMs = 60_000; // a device silent for this long no longer keeps its person from other calls
export const callUnreachableMs = 25_000; // the same if the peer receives nothing either: a reload takes 20 s
export const callEndBackdateMaxMs = 120_000; // how far back a device may date the end of a call that it reports late
export const relayCredentialSeconds = 600; // renewed while a call uses the relay

// Commands. Dialling rings another person each time; the others only cost a request to the conversation.
export const dialBurst = 20;
export const dialsPerSecond = 0.1;
export const callCommandBurst = 100;
export const callCommandsPerSecond = 5;
export const unansweredMax = 6; // unanswered calls in a row to the same person within unansweredMs
export const unansweredMs = 10 * 60_000;

// Signals
export const callSignalMaxBytes = 16 * 1024;
export const signalBurst = 200;
export const signalsPerSecond = 50;
// Signals of one side in a call, in bytes of frames to each device of the peer: a burst, then a rate per second. A
// connection between two devices takes about 10 kB from each, and 5 kB every 4 s while one of them is not heard.
export const ringSignalBytes = 64 * 1024; // before the answer, since the callee has not agreed to receive them
export const ringSignalBytesPerSecond = 1024;
export const talkSignalBytes = 256 * 1024;
export const talkSignalBytesPerSecond = 4 * 1024;
