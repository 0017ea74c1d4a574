import { createRoutes } from "../lib/app";
export const peopleRoutes = createRoutes();
