// Stops and continues a process group in turn, so that all its processes get a share of the time. Sends a message when
// it begins. Arguments: the group, and milliseconds of running and of standing still.
const [group, runMs, stopMs] = process.argv.slice(2).map(Number);
const parent = process.ppid;
const word = new Int32Array(new SharedArrayBuffer(4));
const sleep = (ms) => Atomics.wait(word, 0, 0, ms);

process.send("begun", () => {
  try {
    // Without its parent nobody would ever end it.
    while (process.ppid === parent) {
      process.kill(-group, "SIGSTOP");
      sleep(stopMs);
      process.kill(-group, "SIGCONT");
      sleep(runMs);
    }
  } finally {
    process.kill(-group, "SIGCONT");
  }
});
