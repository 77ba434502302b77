export * from './content.ts'
export { findSchemaMismatch } from './schema-check.ts'
export { toClaudeSchema, toGeminiSchema, toOpenAiSchema, toPlainSchema } from './schema-dialects.ts'
export { type JsonSchema, SchemaProblem } from './schema-walk.ts'
