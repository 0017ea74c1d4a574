// `npm run bench` measures everything, `npm run bench -- delivery size` only those. The contract's modules import each
// other without a file ending, as bundlers read them; Node finds them through this hook.
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context);
    } catch (error) {
      if (!specifier.startsWith(".") || error.code !== "ERR_MODULE_NOT_FOUND") throw error;
      return next(`${specifier}.ts`, context);
    }
  },
});

const { runSubjects } = await import("./subjects");
await runSubjects(process.argv.slice(2).filter((name) => name !== "--no-build"));
