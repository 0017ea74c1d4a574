// Imported by what Node itself runs of the project's TypeScript, before any of it. The modules import each other without
// a file ending, as bundlers read them; Node finds them through this hook.
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context);
    } catch (error) {
      const isMissing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
      if (!specifier.startsWith(".") || !isMissing) throw error;
      return next(`${specifier}.ts`, context);
    }
  },
});
