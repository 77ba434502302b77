import type { ProviderSettings } from '../port.ts'
import type { Flavour } from './flavours.ts'

/**
 * Azure's newest dated version: the newest without `preview` (2024-10-21) supports neither the o-series nor the role `developer`
 * (learn.microsoft.com/azure/ai-services/openai/how-to/reasoning, read 2026-11-21). `v1` addresses need none.
 */
const defaultAzureVersion = '2025-04-01-preview'
/** The model inference addresses (`…/models`) have separate versions. */
const defaultInferenceVersion = '2024-05-01-preview'

/** The address of a resource (`chat/completions`, `embeddings`, `models`) for one model. */
export type Endpoint = (resource: string, wireModelId: string) => string

/** Builds addresses from the operator's base address and keeps its query (`?api-version=…`). */
export function createEndpoint(settings: ProviderSettings, flavour: Flavour): Endpoint {
  if (settings.format === 'azure') return createAzureEndpoint(settings)
  const base = new URL(settings.baseUrl ?? flavour.baseUrl ?? missingBaseUrl(settings))
  let path = trimPath(base.pathname)
  if (path === '') path = flavour.versionPath
  const { origin, search } = base
  const known = new Map<string, string>()
  // One string for each resource: what is looked up by address then hashes it once.
  return (resource) => {
    let address = known.get(resource)
    if (address === undefined) known.set(resource, (address = `${origin}${path}/${resource}${search}`))
    return address
  }
}

/**
 * Azure has several address forms: `https://NAME.openai.azure.com` (deployment in the path, `api-version` required), the same with
 * `/openai/v1` or version `v1` (deployment as `model`), and `…services.ai.azure.com/models`.
 */
function createAzureEndpoint(settings: ProviderSettings): Endpoint {
  const base = new URL(settings.baseUrl ?? missingBaseUrl(settings))
  let path = trimPath(base.pathname)
  const version = settings.apiVersion ?? base.searchParams.get('api-version')
  if (settings.apiVersion === 'v1' && !path.endsWith('/v1')) path = `${path.replace(/\/openai$/, '')}/openai/v1`
  const dated = version === null || version === undefined || version === 'v1' ? null : version
  if (path.endsWith('/v1')) {
    return (resource) => `${base.origin}${path}/${resource}${dated === null ? '' : versionQuery(dated)}`
  }
  const query = versionQuery(dated ?? (path.endsWith('/models') ? defaultInferenceVersion : defaultAzureVersion))
  if (path.endsWith('/models') || path.includes('/deployments/')) {
    return (resource) => `${base.origin}${path}/${resource}${query}`
  }
  const root = path.endsWith('/openai') ? path : `${path}/openai`
  return (resource, deployment) =>
    resource === 'responses'
      ? `${base.origin}${root}/responses${query}`
      : `${base.origin}${root}/deployments/${encodeURIComponent(deployment)}/${resource}${query}`
}

/** Operators often configure the complete address of the chat resource instead of the base. */
function trimPath(path: string): string {
  return path.replace(/\/+$/, '').replace(/\/(chat\/completions|responses)$/, '')
}

function versionQuery(version: string): string {
  return `?api-version=${encodeURIComponent(version)}`
}

function missingBaseUrl(settings: ProviderSettings): never {
  throw new RangeError(`the provider ${settings.id} needs a baseUrl`)
}
