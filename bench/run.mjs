// `npm run bench` measures everything, `npm run bench -- delivery size` only these subjects, `--list` names them.
// Wrangler's development server writes a trace of every event into its own database: one more durable commit per
// message, and as much work as the product itself. Production has no such traces.
process.env.X_LOCAL_OBSERVABILITY = "false";
process.env.X_LOCAL_EXPLORER = "false";

// After Ctrl+C everything a subject started is stopped when this process exits.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));

const { runSubjects, subjectNames } = await import("./subjects.ts");
if (process.argv.includes("--list")) console.log(subjectNames.join("\n"));
else await runSubjects(process.argv.slice(2).filter((argument) => !argument.startsWith("--")));
