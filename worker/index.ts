import { resumeAccountDeletions } from "./account/resume-deletions.ts";
import { api } from "./api.ts";
import { purgeExpiredRows } from "./auth/purge-expired.ts";
import { resealSecrets } from "./auth/second-factor/key-rotation.ts";
import { expireSessions } from "./auth/sessions/expire-sessions.ts";
import { purgeInvitations } from "./contacts/invitation-queries.ts";
import { openDb } from "./db/client.ts";
import { purgeFiles } from "./files/purge.ts";
import { purgeGroupInvitations } from "./groups/invitation-queries.ts";
import { runInBatches } from "./lib/deletion/run-in-batches.ts";
import { isLoopback } from "./lib/http/public-origin.ts";
import { emptyHeaders } from "./lib/http/security-headers.ts";
import { purgeFullBuckets } from "./lib/limits/rate-limit.ts";
import { clockPath, setLocalClock } from "./lib/local-clock.ts";
import { mailboxPath, serveMailbox } from "./mail/local-mailbox.ts";
import { localSmsPath, serveLocalSms } from "./mail/local-sms.ts";
import { purgeFormerHandles } from "./people/handle-queries.ts";
import { purgeNumberProofs } from "./people/numbers/queries.ts";
import { isAppPath, serveAppDocument } from "./service/app-document/serve.ts";
import { isAppLink, serveAppLink } from "./service/app-links.ts";
import { isClientFile, serveClientFile } from "./service/client-files.ts";
import { isDocument, serveDocument } from "./service/documents.ts";
import { isInvitation, serveInvitation } from "./service/invitation-page.ts";
import { isMissedShare, redirectMissedShare } from "./service/missed-share.ts";
import { purgeDeletedPosts } from "./tala/queries.ts";

export { Conversation } from "./objects/conversation.ts";
export { UserChannel } from "./objects/user-channel.ts";

const expiredPerTable = 50_000; // anybody may start a sign-in; its rows live for an hour or two at most
const bucketsPerBatch = 5_000;
const bucketBatchesMax = 50;

export default {
  fetch: (request, env, context) => {
    const { pathname, origin } = new URL(request.url);
    // Development only. Requests through a tunnel to this machine must not read its mailbox.
    if (LOCAL_MAILBOX && [mailboxPath, localSmsPath, clockPath].includes(pathname)) {
      if (!isLoopback(request.url)) return new Response(null, { status: 404, headers: emptyHeaders });
      if (pathname === clockPath) return setLocalClock(request);
      return pathname === mailboxPath ? serveMailbox(request) : serveLocalSms(request);
    }
    // Requests to any address other than PUBLIC_URL are refused.
    if (env.PUBLIC_URL !== "" && new URL(env.PUBLIC_URL).origin !== origin)
      return new Response(null, { status: 421, headers: emptyHeaders });
    if (pathname === "/api" || pathname.startsWith("/api/")) return api.fetch(request, env, context);
    if (isClientFile(pathname)) return serveClientFile(request, env);
    if (isMissedShare(request)) return redirectMissedShare();
    if (isAppLink(pathname)) return serveAppLink(request);
    if (isInvitation(pathname)) return serveInvitation(request, env);
    if (isAppPath(pathname)) return serveAppDocument(request, env);
    return isDocument(pathname) ? serveDocument(request, env) : env.ASSETS.fetch(request);
  },
  scheduled: async (_, env) => {
    const now = Date.now();
    await Promise.all([
      purgeFiles(env, now),
      purgeDeletedPosts(openDb(env), now),
      resumeAccountDeletions(env, now),
      expireSessions(env, now),
      purgeExpiredRows(openDb(env), now, expiredPerTable),
      runInBatches(bucketsPerBatch, bucketBatchesMax, () => purgeFullBuckets(openDb(env), now, bucketsPerBatch)),
      purgeFormerHandles(openDb(env), now, expiredPerTable),
      purgeNumberProofs(openDb(env), now, expiredPerTable),
      purgeInvitations(openDb(env), now, expiredPerTable),
      purgeGroupInvitations(openDb(env), now, expiredPerTable),
      resealSecrets(env),
    ]);
  },
} satisfies ExportedHandler<Env>;
