export { developerToolsViewRoutes } from './developer-tools.view.ts'
export { modelViewRoutes } from './models.view.ts'
export { staticRoutes } from './static.routes.ts'
