/**
 * Set by the build (vite.config.ts) for local builds only. Mails and codes to numbers are then stored and shown under
 * /dev/mail and /dev/sms, and limits can be raised (worker/lib/limits/local-limits.ts). Always false in a deployed
 * build.
 */
declare const LOCAL_MAILBOX: boolean;
