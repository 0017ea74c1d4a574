import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";

declare global {
  namespace Cloudflare {
    interface Env {
      /** The files of migrations/, read in Node by vitest.config.ts. */
      D1_MIGRATIONS: D1Migration[];
    }
  }
}

await applyD1Migrations(env.DB, env.D1_MIGRATIONS);
