export type { Deployment, Hosting, Model } from './catalogue.ts'
