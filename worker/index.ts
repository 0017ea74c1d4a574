import { resumeDeletions } from "./account/resuming";
import { api } from "./api";
import { endOldSessions } from "./auth/expiring";
import { resealSecrets } from "./auth/resealing";
import { forgetExpired } from "./auth/tidying";
import { isClientFile, serveClientFile } from "./client-files";
import { openDb } from "./db/client";
import { isDocument, serveDocument } from "./documents";
import { sweepFiles } from "./files/sweep";
import { emptyHeaders } from "./lib/headers";
import { inBatches } from "./lib/in-batches";
import { clockPath, setLocalClock } from "./lib/local-clock";
import { isLoopback } from "./lib/public-origin";
import { forgetFullBuckets } from "./lib/rate-limit";
import { mailboxPath, serveMailbox } from "./mail/local-mailbox";
import { forgetGone } from "./tala/queries";

export { Conversation } from "./objects/conversation";
export { UserChannel } from "./objects/user-channel";

const expiredAtOnce = 50_000; // anybody may begin to sign in; nothing of it stays for longer than an hour or two
const bucketsAtOnce = 5_000;
const bucketGoesMax = 50;

export default {
  fetch: (request, env, context) => {
    const { pathname, origin } = new URL(request.url);
    // For whoever sits at this machine: a tunnel that leads here shows nobody else's mails.
    if (LOCAL_MAILBOX && (pathname === mailboxPath || pathname === clockPath)) {
      if (!isLoopback(request.url)) return new Response(null, { status: 404, headers: emptyHeaders });
      return pathname === mailboxPath ? serveMailbox(request) : setLocalClock(request);
    }
    // Requests to any address other than PUBLIC_URL are refused.
    if (env.PUBLIC_URL !== "" && new URL(env.PUBLIC_URL).origin !== origin)
      return new Response(null, { status: 421, headers: emptyHeaders });
    if (pathname === "/api" || pathname.startsWith("/api/")) return api.fetch(request, env, context);
    if (isClientFile(pathname)) return serveClientFile(request, env);
    return isDocument(pathname) ? serveDocument(request, env) : env.ASSETS.fetch(request);
  },
  scheduled: async (_, env) => {
    const now = Date.now();
    await Promise.all([
      sweepFiles(env, now),
      forgetGone(openDb(env), now),
      resumeDeletions(env, now),
      endOldSessions(env, now),
      forgetExpired(openDb(env), now, expiredAtOnce),
      inBatches(bucketsAtOnce, bucketGoesMax, () => forgetFullBuckets(openDb(env), now, bucketsAtOnce)),
      resealSecrets(env),
    ]);
  },
} satisfies ExportedHandler<Env>;
