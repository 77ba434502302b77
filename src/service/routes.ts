import { usageRoutes } from '../billing/index.ts'
import { chatRoutes } from '../chat/index.ts'
import { createDocumentAudit, documentProgressRoutes, documentRoutes } from '../documents/index.ts'
import { gatewayRoutes, otherEndpointRoutes } from '../gateway/index.ts'
import { operationsRoutes, type Routes } from '../http/index.ts'
import { modelRoutes } from '../models/index.ts'
import { auditRoutes, findingsOfCounts, operatorRoutes } from '../operators/index.ts'
import { organisationRoutes } from '../organisations/index.ts'
import { spaceRoutes } from '../spaces/index.ts'
import type { Access } from './access.ts'
import type { OpenedDocuments } from './documents.ts'
import type { Files } from './files.ts'
import type { Foundation } from './foundation.ts'
import type { Gateway } from './gateway.ts'
import type { Models } from './models.ts'
import type { Search } from './search.ts'
import type { OpenedSpaces } from './spaces.ts'

type RouteParts = Foundation & Access & Models & Gateway & Files & OpenedSpaces & Search & OpenedDocuments

/** The map of the HTTP surface: every group of routes, in the order of registration. */
export function createRoutes(parts: RouteParts, isReady: () => Promise<boolean>): Routes[] {
  const { organisations, operatorTokens, adminLog, catalogue, operatorCatalogue, ledger, completions } = parts
  const { documents, documentStore, watch, chunks, blobs, index, retrieval, spaces, tokens, clock, log } = parts
  return [
    documentRoutes({ documents, clock }),
    gatewayRoutes({ completions, catalogue, clock, log }),
    otherEndpointRoutes,
    chatRoutes({
      completions,
      retrieval,
      ledger,
      tokens,
      findModel(organisation, id) {
        const model = catalogue.resolve(organisation, id, clock.now())?.model
        return model?.kind === 'chat' ? model : undefined
      },
      fallbackModel: (organisation) => catalogue.baseTierModels(organisation, clock.now())[0]?.id,
      getPublishedSpace: (endpointId) => spaces.getEndpoint(endpointId),
      now: () => clock.now(),
      log,
    }),
    organisationRoutes({ organisations, canonicalModelId: (id) => catalogue.canonicalId(id), clock }),
    spaceRoutes({ spaces }),
    documentProgressRoutes({ documents: documentStore, watch, chunks, findSpace: (id) => spaces.get(id), log }),
    modelRoutes({ catalogue: operatorCatalogue }),
    usageRoutes({ ledger, organisations, clock }),
    operationsRoutes({ isReady }),
    operatorRoutes({ adminLog, operatorTokens }),
    auditRoutes({
      checks: [
        { area: 'ledger', run: async () => (await ledger.audit()).findings },
        { area: 'index', run: async () => findingsOfCounts(await index.audit()) },
        createDocumentAudit({ store: documentStore, blobs, clock }),
      ],
      clock,
    }),
  ]
}
