export { toClientError } from './client-error.ts'
export { type Attempting, createRouter, type Router } from './router.ts'
