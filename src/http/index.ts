export type { App, RouteAuthentication, Routes } from './route.ts'
