export type { Organisation, Plan, Subscription } from './organisation.ts'
