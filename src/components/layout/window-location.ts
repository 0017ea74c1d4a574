import { createContext } from "react";

/**
 * Path of the whole window. A pane next to the page has its own location and reads here which of its entries is open.
 */
export const WindowPathContext = createContext("");
