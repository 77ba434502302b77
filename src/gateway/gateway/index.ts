export {
  answerCompletion,
  type AnswerIdentity,
  type AnswerRenderer,
  gatewayRoutes,
  renderCitation,
  renderStreamError,
  renderUsage,
  type StreamRenderer,
} from './gateway.routes.ts'
export { createCompletions } from './complete.ts'
export { countPrompt, estimateRequestAtOnce } from './prompt-size.ts'
export { createTokenCounts, type TokenCounts } from './count-tokens.ts'
export { createEmbeddings } from './embed.ts'
export { modelNotFound } from './find-deployments.ts'
export { createReranking } from './rerank.ts'
export type * from './port.ts'
export { otherEndpointRoutes } from './other-endpoints.routes.ts'
export { hasOnlyUsualFields, readUsualRequest } from './usual-request.ts'
