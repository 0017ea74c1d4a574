/** Types that the tests use; the package has none. */
declare module "oidc-provider" {
  import type { RequestListener } from "node:http";

  type Account = { accountId: string; claims: () => Promise<{ sub: string } & Record<string, unknown>> };
  export default class Provider {
    constructor(
      issuer: string,
      configuration: {
        clients: Record<string, unknown>[];
        claims: Record<string, string[]>;
        cookies: { keys: string[] };
        findAccount: (context: unknown, id: string) => Promise<Account>;
      },
    );
    callback(): RequestListener;
  }
}
