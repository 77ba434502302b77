/** A move that cannot begin, continue or end; the message says why and what to do. */
export class MoveError extends Error {}
