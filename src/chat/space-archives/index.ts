export { createExportedSpaceStore } from './exported-space.store.ts'
export { createSpaceImportStore } from './space-imports.store.ts'
export { spaceArchiveRoutes, type SpaceArchiveRoutesDependencies } from './space-archives.routes.ts'
