import type { ProvidersView, ProviderView } from '../../../contract/console-models.ts'
import type { ConnectionsView } from '../../providers/index.ts'
import type { DeclaredProvider } from '../build-catalogue.ts'
import { renderProvider } from '../render-catalogue.ts'
import { isCallable } from './deployment-view.ts'
import { allEntries, type Entry, matches, pageOf, type ViewContext } from './view-context.ts'

/** Formats whose adapters find credentials of the machine where none are declared. */
const machineCredentials: ReadonlySet<string> = new Set(['bedrock', 'vertex'])

export async function providersView(
  context: ViewContext,
  query: { search?: string | undefined; limit: number; offset: number },
): Promise<ProvidersView> {
  const found = [...context.catalogue.built().providers.values()].filter(({ settings }) =>
    matches(query.search, settings.id, settings.format, settings.flavour ?? '', settings.baseUrl ?? ''),
  )
  const shown = pageOf(found, query)
  const [tests, failing] = await Promise.all([
    context.store.loadTests(shown.map(({ settings }) => settings.id)),
    context.loadFailing(),
  ])
  const entries = Map.groupBy(allEntries(context.catalogue), ({ deployment }) => deployment.providerId)
  const items = shown.map((provider): ProviderView => {
    const { id } = provider.settings
    const test = tests.get(id)
    return {
      ...renderProvider(provider, context.catalogue.versionOf('provider', id)),
      declaredIn: provider.declaredBy ?? declaredInOf(provider),
      replaces: provider.replaces,
      isSwitched: provider.origin === 'operator' && provider.declaredIn !== 'operator',
      credentialState: credentialStateOf(provider),
      connections: connectionsOf(context, context.catalogue.connections(id)),
      deployments: countDeployments(context, entries.get(id) ?? [], failing),
      lastTest: test ? { ...test.result, at: new Date(test.at).toISOString() } : null,
    }
  })
  return { total: found.length, items }
}

/** Providers are neither discovered nor in the snapshot. */
function declaredInOf({ declaredIn }: DeclaredProvider): ProviderView['declaredIn'] {
  return declaredIn === 'discovered' ? 'detected' : declaredIn
}

function credentialStateOf({ settings }: DeclaredProvider): ProviderView['credentialState'] {
  const { format, flavour, apiKey, credentials, headers } = settings
  if (apiKey !== undefined) return 'api_key'
  if (credentials !== undefined) return 'credentials'
  if (Object.keys(headers ?? {}).length > 0) return 'headers'
  if (machineCredentials.has(format)) return 'machine'
  const isLocal = format === 'offline' || format === 'ollama' || (flavour !== undefined && localFlavours.has(flavour))
  return isLocal ? 'not_needed' : 'missing'
}

const localFlavours: ReadonlySet<string> = new Set(['ollama', 'lmstudio', 'llamacpp', 'vllm'])

function connectionsOf({ organisations }: ViewContext, view: ConnectionsView | null): ProviderView['connections'] {
  if (!view) return null
  const { tenants, ...counts } = view
  return {
    ...counts,
    organisations: tenants.map(({ id, held, waiting }) => ({
      id: id === '' ? null : id,
      name: organisations.get(id)?.name ?? null,
      held,
      waiting,
    })),
  }
}

function countDeployments(
  { deploymentHealth, clock }: ViewContext,
  entries: readonly Entry[],
  failing: ReadonlySet<string>,
) {
  const nowMs = clock.now()
  return {
    total: entries.length,
    callable: entries.filter((entry) => isCallable(entry, nowMs)).length,
    open: entries.filter(({ deployment }) => deploymentHealth.health(deployment.id).circuit !== 'closed').length,
    failing: entries.filter(({ deployment }) => failing.has(deployment.id)).length,
  }
}
