// `npm run lab` tries calls on bad networks, `npm run lab -- relay switch` only these trials, `--list` names them. It is
// not part of `npm test`: it needs Linux, root, Python and Debian packages, and reports what is missing. After Ctrl+C
// namespaces, relay and browsers end with this process.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(130));

const { listTrials, runTrials } = await import("./trials.ts");
if (process.argv.includes("--list")) listTrials();
else await runTrials(process.argv.slice(2).filter((name) => !name.startsWith("--")));
process.exit();
