export { chatRoutes } from './chat.routes.ts'
export type { BeginRecord } from './record-answer.ts'
export { spaceSearchRoutes } from './search.routes.ts'
