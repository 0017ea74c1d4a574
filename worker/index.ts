import { api } from "./api.ts";
import { isLoopback } from "./lib/http/public-origin.ts";
import { emptyHeaders } from "./lib/http/security-headers.ts";
import { clockPath, setLocalClock } from "./lib/local-clock.ts";
import { mailboxPath, serveMailbox } from "./mail/local-mailbox.ts";
import { localSmsPath, serveLocalSms } from "./mail/local-sms.ts";
import { isAppPath, serveAppDocument } from "./service/app-document/serve.ts";
import { isAppLink, serveAppLink } from "./service/app-links.ts";
import { isClientFile, serveClientFile } from "./service/client-files.ts";
import { isDocument, serveDocument } from "./service/documents.ts";
import { runHourlyJobs } from "./service/hourly-jobs.ts";
import { isInvitation, serveInvitation } from "./service/invitation-page.ts";
import { isMissedShare, redirectMissedShare } from "./service/missed-share.ts";

export { Conversation } from "./objects/conversation.ts";
export { UserChannel } from "./objects/user-channel.ts";

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
  scheduled: (_, env) => runHourlyJobs(env),
} satisfies ExportedHandler<Env>;
