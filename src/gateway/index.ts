export { createCompletions } from './complete.ts'
export { gatewayRoutes } from './gateway.routes.ts'
export type * from './port.ts'
