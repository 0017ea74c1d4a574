// `npm run bench` measures everything, `npm run bench -- delivery size` only those.
// Wrangler's development server writes a trace of every event into a database of its own, one more durable commit and as
// much work as the product's for every message. Production has no such thing.
process.env.X_LOCAL_OBSERVABILITY = "false";
process.env.X_LOCAL_EXPLORER = "false";

// Stopped by Ctrl+C, it ends as any other way: whatever a subject started is stopped when this process exits.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));

const { runSubjects } = await import("./subjects.ts");
await runSubjects(process.argv.slice(2).filter((argument) => !argument.startsWith("--")));
