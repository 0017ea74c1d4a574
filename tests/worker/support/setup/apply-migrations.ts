import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";
// Loads the code that the Worker imports only for passkeys, because on a busy machine it takes most of a test's time.
import "#worker/auth/passkeys/webauthn-library.ts";
import { emptyBuckets } from "#worker/lib/limits/rate-limit.ts";

declare global {
  namespace Cloudflare {
    interface Env {
      /** Files of migrations/, read in Node by vitest.config.ts. */
      D1_MIGRATIONS: D1Migration[];
    }
  }
}

await applyD1Migrations(env.DB, env.D1_MIGRATIONS);

// All requests without an address count as one address: forget the limits that earlier test files used up.
await env.DB.exec("DELETE FROM rate_limits WHERE key GLOB '*_by_address:*'");
emptyBuckets.clear();
