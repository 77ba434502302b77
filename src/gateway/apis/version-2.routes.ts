import type { Routes } from '../../platform/http/index.ts'
import { chatCompletionRoutes } from './chat-completions/chat.routes.ts'
import type { TokenCounting } from '../tokens/index.ts'
import type { CompletionRouteDependencies } from './completion.routes.ts'
import { responsesRoutes } from './responses/responses.routes.ts'

/** `/v2/gateway`: every client API of version 2. */
export function version2Routes(dependencies: CompletionRouteDependencies & { tokens: TokenCounting }): Routes {
  return (app) => {
    chatCompletionRoutes(dependencies)(app)
    responsesRoutes(dependencies)(app)
  }
}
