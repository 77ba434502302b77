export { staticRoutes } from './static.routes.ts'
