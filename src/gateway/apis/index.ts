export { type Version2Dependencies, version2Routes } from './version-2.routes.ts'
