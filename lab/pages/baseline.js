// Baseline: two pages that call each other with standard browser behaviour: perfect negotiation as documented by MDN,
// an ICE restart after the connection failed, and a socket that reconnects after closing.
const retryMs = 1_000;

let connection;
let socket;
let options;
let microphone;
let camera;
let isOffering = false;
const unsent = [];

function say(message) {
  const text = JSON.stringify(message);
  if (socket?.readyState === WebSocket.OPEN) socket.send(text);
  else unsent.push(text);
}

function openSocket() {
  socket = new WebSocket(`${location.origin.replace("http", "ws")}/${options.isCaller ? "caller" : "callee"}`);
  socket.onopen = () => {
    for (const text of unsent.splice(0)) socket.send(text);
  };
  socket.onmessage = ({ data }) => void hear(JSON.parse(data));
  socket.onclose = () => setTimeout(openSocket, retryMs);
}

async function hear({ accepted, description, candidate }) {
  if (accepted) return start();
  if (description) {
    const isGlare = description.type === "offer" && (isOffering || connection.signalingState !== "stable");
    if (isGlare && options.isCaller) return;
    await connection.setRemoteDescription(description);
    if (description.type !== "offer") return;
    await connection.setLocalDescription();
    say({ description: connection.localDescription });
  }
  if (candidate) await connection.addIceCandidate(candidate).catch(() => undefined);
}

function connect() {
  const { iceServers, iceTransportPolicy } = options;
  connection = new RTCPeerConnection({ iceServers, iceTransportPolicy });
  connection.onnegotiationneeded = async () => {
    if (!options.isCaller && connection.signalingState === "stable" && !connection.localDescription) return;
    isOffering = true;
    await connection.setLocalDescription();
    say({ description: connection.localDescription });
    isOffering = false;
  };
  connection.onicecandidate = ({ candidate }) => candidate && say({ candidate });
  connection.onconnectionstatechange = () => connection.connectionState === "failed" && connection.restartIce();
  connection.ontrack = ({ track }) => {
    const player = document.createElement(track.kind);
    player.autoplay = true;
    player.srcObject = new MediaStream([track]);
    document.body.append(player);
  };
}

function start() {
  if (!connection) connect();
  for (const track of [microphone, camera]) if (track) connection.addTrack(track, new MediaStream([track]));
}

globalThis.baseline = {
  /** Joins a call: `isCaller`, `hasVideo`, `iceServers`, `iceTransportPolicy`. Nothing connects before `accept`. */
  async join(chosen) {
    options = chosen;
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: options.hasVideo });
    [microphone] = stream.getAudioTracks();
    [camera] = stream.getVideoTracks();
    openSocket();
    connect();
    await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  },
  /** Accepts the call as callee; the caller offers when it is notified. Returns the time. */
  accept() {
    const at = Date.now();
    say({ accepted: true });
    for (const track of [microphone, camera]) if (track) connection.addTrack(track, new MediaStream([track]));
    return at;
  },
};
