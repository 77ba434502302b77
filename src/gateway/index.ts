export { createCompletions } from './complete.ts'
export { createEmbeddings } from './embed.ts'
export { gatewayRoutes } from './gateway.routes.ts'
export type * from './port.ts'
