/** Bounds of stored conversations. docs/use/conversations.md states each of them. */
export const conversationLimits = {
  /** UTF-8 bytes of a question, and of an answer: some 16,000 tokens. The rest is cut off. */
  textBytes: 65_536,
  /** Earlier messages of a request that no stored turn has: bytes of one, and of all of them. The oldest are left out. */
  givenMessageBytes: 16_384,
  givenBytes: 65_536,
  /** References with their passages, as JSON. */
  citedBytes: 65_536,
  /** Of one conversation. Its oldest turns are removed first. */
  turnsPerConversation: 200,
  bytesPerConversation: 4 * 1024 ** 2,
  /** Of one Space. Its oldest turns are removed first. */
  turnsPerSpace: 1_000_000,
  bytesPerSpace: 4 * 1024 ** 3,
} as const
