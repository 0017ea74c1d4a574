import { buildProduct } from "#bench/rig/product.ts";
import type { Section } from "#bench/rig/table.ts";
import type { Site } from "#tests/support/people/people.ts";
import { cheapWork, startServer } from "#tests/support/server/server.ts";
import { toSite } from "./comparison.ts";
import { measureExistence } from "./existence.ts";
import { measureSignIn } from "./sign-in.ts";

async function measureWith(vars: Record<string, string>, measure: (site: Site) => Promise<Section>): Promise<Section> {
  const server = await startServer({ vars });
  try {
    return await measure(toSite(server.origin));
  } finally {
    await server.stop();
  }
}

/** Whether response times reveal who has an account, who is closed and who blocks. */
export async function measureTiming(): Promise<Section[]> {
  buildProduct();
  // Commands about a person hash no password, so that its many people may be made with cheap hashes.
  return [await measureWith(cheapWork, measureExistence), await measureWith({}, measureSignIn)];
}
