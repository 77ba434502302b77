/** As the service: with Node.js's 511, thousands of connections at once are answered after retries, seconds later. */
export const waitingConnections = 4096
