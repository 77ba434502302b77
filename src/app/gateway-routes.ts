import { version2Routes } from '../gateway/apis/index.ts'
import { gatewayRoutes, otherEndpointRoutes } from '../gateway/gateway/index.ts'
import { operationsRoutes, type Routes } from '../platform/http/index.ts'
import type { GatewayParts } from './compose-gateway.ts'

type RouteParts = Pick<
  GatewayParts,
  | 'completions'
  | 'embeddings'
  | 'reranking'
  | 'tokenCounts'
  | 'tokens'
  | 'catalogue'
  | 'names'
  | 'checkReadiness'
  | 'clock'
  | 'log'
>

/** The routes of a process with the role `gateway`, which others have as well. The map of all routes is routes.ts. */
export function routesOfGateway(parts: RouteParts): Routes[] {
  return [...modelCallRoutes(parts), operationsRoutes({ checkReadiness: parts.checkReadiness })]
}

/** The APIs through which clients call models. */
export function modelCallRoutes(parts: Omit<RouteParts, 'checkReadiness'>): Routes[] {
  return [gatewayRoutes(parts), version2Routes(parts), otherEndpointRoutes]
}
