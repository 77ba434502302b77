import { loadPriceSnapshot } from '../../../src/gateway/models/price-snapshot.ts'
import { buildCatalogue } from '../../../src/gateway/models/build-catalogue.ts'
import { noDeclarations } from '../../../src/gateway/models/declarations.ts'
import { defaultPriceLists } from '../../../src/gateway/models/price-lists.ts'
import { createAdapter } from '../../../src/gateway/providers/create-provider.ts'
import type { ProviderSettings, WireModel } from '../../../src/gateway/providers/index.ts'
import { asObject, type JsonObject, parseJson } from '../../../src/gateway/providers/wire-json.ts'
import type { RequestCall } from './request-call.ts'

export interface OurBody {
  body: JsonObject
  /** Public names of the fields for `x-adjusted-params`. */
  adjusted: string[]
  wireModel: WireModel
}

const snapshot = loadPriceSnapshot()

/** The body that our adapter sends for a call, with the model of the catalogue; null: the format has no embeddings. */
export function ourBody(settings: ProviderSettings, call: RequestCall): OurBody | null {
  const adapter = createAdapter(settings)
  const model = wireModelOf(settings, call.model)
  if (call.kind === 'embeddings') {
    if (!adapter.embeddings) return null
    const { texts, purpose, dimensions } = call
    const sized = dimensions !== undefined && { dimensions }
    return { ...toOurs(adapter.embeddings.toRequest({ model, texts, purpose, ...sized })), wireModel: model }
  }
  const { signal } = new AbortController()
  const request = adapter.toRequest(
    { model, request: call.request, signal, requestId: 'req_conformance' },
    { stream: call.stream },
  )
  return { ...toOurs(request), wireModel: model }
}

function toOurs({ body, adjusted }: { body: unknown; adjusted: string[] }): Omit<OurBody, 'wireModel'> {
  return { body: asObject(typeof body === 'string' ? parseJson(body) : body), adjusted }
}

/** The catalogue of an operator who declares only this model at this provider. */
function wireModelOf(settings: ProviderSettings, id: string): WireModel {
  const catalogue = buildCatalogue(snapshot, [
    {
      ...noDeclarations,
      origin: 'configuration',
      providers: [
        {
          settings,
          enabled: true,
          hosting: 'global',
          priceLists: defaultPriceLists(settings, 'global'),
          models: 'declared',
        },
      ],
      deployments: [{ id: 'conformance', modelId: id, providerId: settings.id, wireId: id }],
    },
  ])
  return catalogue.models.get(id)!.all[0]!.deployment.wire
}
