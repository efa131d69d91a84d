import { createContext } from 'react';

/** Whether the socket of the live events is connected. */
export const ConnectionContext = createContext(true);
