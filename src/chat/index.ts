export { chatRoutes } from './chat.routes.ts'
export { spaceSearchRoutes } from './search.routes.ts'
