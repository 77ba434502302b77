export { toClientError } from './client-error.ts'
export { createRouter } from './router.ts'
export type { Attempting, Router } from './router.ts'
