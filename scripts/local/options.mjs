// Options of `npm start` and `npm run dev`.
import { parseArgs } from "node:util";

export function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "8787" },
      "persist-to": { type: "string", default: ".data" },
      demo: { type: "boolean", default: false },
      build: { type: "boolean", default: true },
    },
    allowNegative: true,
  });
  return { port: Number(values.port), state: values["persist-to"], demo: values.demo, build: values.build };
}
