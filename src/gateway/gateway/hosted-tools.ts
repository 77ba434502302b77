import { AppError, type HostedToolKind } from '../../platform/kernel/index.ts'
import { type Deployment, priceInForce, type ResolvedModel } from '../models/index.ts'
import { promptReads } from '../providers/index.ts'
import type { TokenEstimate } from '../tokens/index.ts'
import type { CompletionCall } from './port.ts'

/**
 * The deployments that have a price for each use of the request's hosted tools. Throws `unsupported_parameter` if none has: a missing price
 * is not guessed.
 */
export function pricedDeployments(
  deployments: readonly Deployment[],
  { request, needs }: Pick<CompletionCall, 'request' | 'needs'>,
  nowMs: number,
): readonly Deployment[] {
  const { hostedTools = [], hostedLimits } = request
  if (hostedTools.length === 0) return deployments
  const isPriced = (deployment: Deployment, kind: HostedToolKind) => {
    const price = priceOf(deployment, kind, nowMs)
    return price !== undefined && (price === 0n || hostedLimits?.unlimited.includes(kind) === false)
  }
  const kinds = hostedTools.map(({ kind }) => kind)
  const priced = deployments.filter((deployment) => kinds.every((kind) => isPriced(deployment, kind)))
  if (priced.length > 0) return priced
  const kind = kinds.find((each) => !deployments.some((deployment) => isPriced(deployment, each))) ?? kinds[0]!
  const field = needs?.fieldOf(`use:${kind}`) ?? 'tools'
  if (
    hostedLimits?.unlimited.includes(kind) !== false &&
    deployments.some((deployment) => priceOf(deployment, kind, nowMs))
  )
    throw new AppError(
      'unsupported_parameter',
      `\`${field}\`: \`${kind}\` has a price for each use, and no field limits its uses, so its cost cannot be bounded.`,
      { param: field },
    )
  throw new AppError(
    'unsupported_parameter',
    `\`${field}\`: the price list has no price of \`${kind}\` for this model. The operator can add it as \`perThousandUses.${kind}\`.`,
    { param: field },
  )
}

const priceOf = (deployment: Deployment, kind: HostedToolKind, nowMs: number) =>
  priceInForce(deployment, nowMs)?.toolUses?.[kind]

/** Each round of hosted tools reads the prompt again, with the results so far: at most the whole context. */
export function withRounds(
  size: TokenEstimate,
  { hostedLimits }: CompletionCall['request'],
  { model, deployments }: ResolvedModel,
): TokenEstimate {
  if (!hostedLimits) return size
  const reads = Math.max(...deployments.map(({ wire }) => promptReads(hostedLimits, wire)))
  return { estimate: size.estimate, bound: Math.max(size.bound, reads * model.contextTokens) }
}
