/** What to erase of a Space. */
export type Erasure =
  | { scope: 'conversation'; conversationId: string }
  | { scope: 'user'; user: string }
  /** Answers to questions of this time; `from` included, `to` not. */
  | { scope: 'time'; from: Date | null; to: Date | null }
  | { scope: 'space' }
