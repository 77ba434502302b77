export { renderErrorBody, toAppError } from './error-renderer.ts'
export { type EventStream, startEventStream } from './event-stream.ts'
export type { App, RouteAuthentication, Routes } from './route.ts'
