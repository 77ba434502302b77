export { createConversationAccess } from './conversation-access.ts'
export { conversationRoutes } from './conversations.routes.ts'
export { createConversations } from './conversations.ts'
export { createSubjectErasure } from './subject-erasure.store.ts'
