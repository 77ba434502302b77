import { AppError, type Clock, type HostedToolKind } from '../../platform/kernel/index.ts'
import { type Catalogue, type Deployment, euPrefix, priceInForce, type ResolvedModel } from '../models/index.ts'
import type { Capability } from '../providers/index.ts'
import type { CompletionCall } from './port.ts'

/** Models that an error names. */
const maximumNames = 10

const words: Readonly<Record<string, string>> = {
  tools: 'tools',
  named_tool_choice: 'a choice of one tool',
  forced_tools: 'a required tool call',
  tools_with_schema: 'tools together with a format of the answer',
  tools_with_hosted: 'tools of the client together with those that its provider runs',
  parallel_tools: 'a limit of one tool call for each answer',
  images: 'images',
  files: 'files',
  audio: 'audio',
  json_object: 'JSON answers',
  json_schema: 'answers with a JSON Schema',
  several_choices: 'several answers to one prompt',
  logprobs: 'log probabilities',
  'use:web_search': 'web search',
  'use:web_fetch': 'web fetch',
  'use:code_execution': 'code execution at its provider',
  'use:tool_search': 'tool search at its provider',
  'use:mcp': 'MCP servers that its provider calls',
}

/**
 * The deployments that can do all that the call needs. Throws `unsupported_parameter` with the field if none can: nothing of a request is
 * dropped silently.
 */
export function deploymentsFor(
  { catalogue, clock }: { catalogue: Catalogue; clock: Clock },
  call: Pick<CompletionCall, 'organisation' | 'needs'>,
  resolved: ResolvedModel,
): readonly Deployment[] {
  const { needs } = call
  if (!needs) return resolved.deployments
  const deployments = catalogue.capable(resolved, needs.capabilities)
  if (deployments.length > 0) return deployments
  const needed = new Set(needs.capabilities)
  if (needs.enforced !== undefined && needed.delete(needs.enforced)) {
    const enforcing = catalogue.capable(resolved, needed)
    if (enforcing.length > 0) return enforcing
  }
  const missing =
    [...needed].find((capability) => catalogue.capable(resolved, [capability]).length === 0) ?? [...needed][0]!
  const field = needs.fieldOf(missing)
  const id = resolved.eu ? euPrefix + resolved.model.id : resolved.model.id
  const others = modelsWith(catalogue, call, needed, { eu: resolved.eu, nowMs: clock.now() })
  const what = words[missing] ?? 'tools that its provider runs'
  const offer = others.length === 0 ? 'none' : others.map((name) => `\`${name}\``).join(', ')
  throw new AppError(
    'unsupported_parameter',
    `\`${field}\`: the model \`${id}\` does not support ${what}. Models that do: ${offer}.`,
    { param: field },
  )
}

function modelsWith(
  catalogue: Catalogue,
  { organisation }: Pick<CompletionCall, 'organisation'>,
  capabilities: ReadonlySet<Capability>,
  { eu, nowMs }: { eu: boolean; nowMs: number },
): string[] {
  const names: string[] = []
  for (const { id } of catalogue.list(organisation, nowMs)) {
    if (id.startsWith(euPrefix) !== eu) continue
    const resolved = catalogue.resolve(organisation, id, nowMs)
    if (resolved && catalogue.capable(resolved, capabilities).length > 0) names.push(id)
    if (names.length === maximumNames) break
  }
  return names
}

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

/** Longest part of an id that an error repeats, in characters. */
const shownIdLength = 100

/**
 * The same error for a model that is unknown, disabled, retired, without a price, of another kind or not in the plan. It names the list of the
 * version that the client uses.
 */
export function modelNotFound(id: string, version: 1 | 2 = 1): AppError {
  return new AppError(
    'model_not_found',
    `The model \`${id.slice(0, shownIdLength)}\` does not exist or is not available to your organisation. GET /v${version}/gateway/models lists the models you can use.`,
    { param: 'model' },
  )
}
