// `npm run lab` tries calls on bad networks, `npm run lab -- relay switch` only these. It is no part of `npm test`: it
// needs Linux, root, Python and packages of Debian's, and says which is missing.
// Stopped by Ctrl+C, it ends as any other way: namespaces, relay and browsers go with this process.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(130));

const { runTrials } = await import("./trials.ts");
await runTrials(process.argv.slice(2).filter((name) => !name.startsWith("--")));
process.exit();
