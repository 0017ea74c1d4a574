import { createRoutes } from "../lib/app";
export const contactsRoutes = createRoutes();
