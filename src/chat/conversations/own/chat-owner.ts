/** Whose conversations with which Space. Every statement about them has both. */
export interface ChatOwner {
  spaceId: string
  personId: string
}
