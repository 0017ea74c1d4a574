import { createContext } from "react";

/**
 * Where the window as a whole is. A pane beside the page has a location of its own and reads here which of its
 * entries is open.
 */
export const WindowPathContext = createContext("");
