export type { Document, DocumentFailureCode, DocumentStatus } from './document.ts'
