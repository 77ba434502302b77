export {
  type AnswerRenderer,
  answerCompletion,
  renderStreamError,
  type StreamRenderer,
} from './answer-completion.routes.ts'
export { createCompletions } from './complete.ts'
export { countPrompt } from './count-prompt.ts'
export { createTokenCounts, type TokenCounts } from './count-tokens.ts'
export { createEmbeddings } from './embed.ts'
export { estimateRequestAtOnce } from './estimate-prompt.ts'
export { modelNotFound } from './model-not-found.ts'
export { createReranking } from './rerank.ts'
export { gatewayRoutes } from './gateway.routes.ts'
export type * from './port.ts'
export { otherEndpointRoutes } from './other-endpoints.routes.ts'
export { type AnswerIdentity, renderCitation, renderUsage } from './render-completion.ts'
export { hasOnlyUsualFields, readUsualRequest } from './usual-request.ts'
