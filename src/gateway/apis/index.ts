export { version2Routes } from './version-2.routes.ts'
