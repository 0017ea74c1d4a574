/**
 * What the build says (vite.config.ts): it is for this machine. Mails are kept here and shown under /dev/mail, and limits can
 * be raised (worker/lib/limits/local-limits.ts). Never in what is deployed.
 */
declare const LOCAL_MAILBOX: boolean;
