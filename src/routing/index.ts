export { toClientError } from './client-error.ts'
export { createRouter } from './router.ts'
export type { Router } from './router.ts'
