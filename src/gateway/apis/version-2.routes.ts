import type { Routes } from '../../platform/http/index.ts'
import type { Embeddings, Reranking, TokenCounts } from '../gateway/index.ts'
import type { Catalogue } from '../models/index.ts'
import type { TokenCounting } from '../tokens/index.ts'
import { chatCompletionRoutes } from './chat-completions/chat.routes.ts'
import type { CompletionRouteDependencies } from './completion.routes.ts'
import { embeddingRoutes } from './embeddings/embeddings.routes.ts'
import { messagesRoutes } from './messages/messages.routes.ts'
import { messagesModelRoutes } from './messages/models.routes.ts'
import { modelRoutes } from './models/models.routes.ts'
import { rerankRoutes } from './rerank/rerank.routes.ts'
import { responsesRoutes } from './responses/responses.routes.ts'

export interface Version2Dependencies extends CompletionRouteDependencies {
  catalogue: Catalogue
  embeddings: Embeddings
  reranking: Reranking
  tokens: TokenCounting
  tokenCounts: TokenCounts
}

/** `/v2/gateway`: every client API of version 2. */
export function version2Routes(dependencies: Version2Dependencies): Routes {
  return (app) => {
    modelRoutes(dependencies)(app)
    chatCompletionRoutes(dependencies)(app)
    embeddingRoutes(dependencies)(app)
    rerankRoutes(dependencies)(app)
    responsesRoutes(dependencies)(app)
    messagesRoutes(dependencies)(app)
    messagesModelRoutes(dependencies)(app)
  }
}
