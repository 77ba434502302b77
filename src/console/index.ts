export { developerToolsViewRoutes } from './developer-tools.view.ts'
export { modelViewRoutes } from './models.view.ts'

export { createOrganisationsStore } from './organisations.store.ts'
export { organisationsView } from './organisations.view.ts'
export { peopleViewRoutes } from './people.view.ts'
export { createProcessSamples } from './process-samples.ts'

export { usageViewRoutes } from './usage.view.ts'
export { spaceViewRoutes } from './spaces.view.ts'
export { staticRoutes } from './static.routes.ts'
export { createSystemReport } from './system-report.ts'
export { createSystemStore } from './system.store.ts'
export { systemView } from './system.view.ts'
