/** What the build says (vite.config.ts): mails are kept here and shown under /dev/mail. Never in what is deployed. */
declare const LOCAL_MAILBOX: boolean;
