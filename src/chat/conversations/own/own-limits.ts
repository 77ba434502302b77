/** Bounds of what one person keeps of one Space, in addition to those of a conversation. docs/use/conversations.md states them. */
export const ownLimits = {
  /** The oldest are removed first. */
  chats: 1_000,
  /** UTF-8 bytes of all texts. The oldest are removed first. */
  bytes: 64 * 1024 ** 2,
} as const
