export * from './content.ts'
