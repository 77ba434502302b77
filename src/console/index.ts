export { developerToolsViewRoutes } from './developer-tools.view.ts'
export { staticRoutes } from './static.routes.ts'
