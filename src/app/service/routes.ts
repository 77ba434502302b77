import path from 'node:path'
import {
  type Accounts,
  authRoutes,
  memberRoutes,
  passwordResetRoutes,
  peopleRoutes,
} from '../../tenants/accounts/index.ts'
import { backupRoutes, type BackupRoutesDependencies } from '../backup/index.ts'
import { journalRoutes, type LedgerService, usageRoutes } from '../../gateway/billing/index.ts'
import { type AnswerDependencies, type BeginRecord, chatRoutes, spaceSearchRoutes } from '../../chat/chat/index.ts'
import {
  developerToolsViewRoutes,
  modelViewRoutes,
  type OrganisationLists,
  organisationsView,
  peopleViewRoutes,
  spaceViewRoutes,
  staticRoutes,
  systemView,
  type SystemReport,
  usageViewRoutes,
} from '../../console/index.ts'
import { conversationRoutes, type Conversations } from '../../chat/conversations/index.ts'
import {
  type BlobStore,
  type ChunkReader,
  createDocumentAudit,
  documentProgressRoutes,
  documentRoutes,
  documentViewerRoutes,
  documentSessionRoutes,
  type Documents,
  type DocumentStore,
  type DocumentWatch,
  type Viewer,
} from '../../documents/documents/index.ts'
import { erasureRoutes, type Erasures } from '../../chat/erasures/index.ts'
import {
  goldenQuestionRoutes,
  type GoldenQuestions,
  goldenRunRoutes,
  type GoldenRuns,
  goldenSettingsRoutes,
  type GoldenSettings,
} from '../../chat/golden-questions/index.ts'
import { type Completions, gatewayRoutes, otherEndpointRoutes } from '../../gateway/gateway/index.ts'
import { type Metrics, operationsRoutes, type Routes } from '../../platform/http/index.ts'
import type { InsightService } from '../../chat/insights/index.ts'
import type { Clock, Log, Role } from '../../platform/kernel/index.ts'
import {
  type CatalogueViews,
  type LiveCatalogue,
  modelRoutes,
  type OperatorCatalogue,
} from '../../gateway/models/index.ts'
import {
  actorOf,
  type AdminLog,
  adminLogRoutes,
  auditRoutes,
  findingsOfCounts,
  operatorRoutes,
  type Reencryption,
  type OperatorTokens,
} from '../../tenants/operators/index.ts'
import { modelSwitchRoutes, organisationRoutes, type Organisations } from '../../tenants/organisations/index.ts'
import type { SearchIndex } from '../../documents/retrieval/index.ts'
import { spaceArchiveRoutes, type SpaceArchiveRoutesDependencies } from '../../chat/space-archives/index.ts'
import { spaceRoutes, type Spaces } from '../../chat/spaces/index.ts'
import type { Readiness } from './readiness.ts'

export interface RouteDependencies {
  role: Role
  organisations: Organisations
  operatorTokens: OperatorTokens
  reencryption: Reencryption
  accounts: Accounts
  adminLog: AdminLog
  catalogue: LiveCatalogue
  operatorCatalogue: OperatorCatalogue
  catalogueViews: CatalogueViews
  ledger: LedgerService
  completions: Completions
  documents: Documents
  documentStore: DocumentStore
  watch: DocumentWatch
  chunks: ChunkReader
  viewer: Viewer
  maximumUploadBytes: number
  blobs: BlobStore
  index: Pick<SearchIndex, 'audit'>
  answers: AnswerDependencies
  spaces: Spaces
  insights: InsightService
  goldenQuestions: GoldenQuestions
  goldenSettings: GoldenSettings
  goldenRuns: GoldenRuns
  conversations: Conversations
  beginRecord: BeginRecord
  erasures: Erasures
  spaceArchives: SpaceArchiveRoutesDependencies
  systemReport: SystemReport
  organisationLists: OrganisationLists
  backups: BackupRoutesDependencies
  metrics: Metrics
  checkReadiness: () => Promise<Readiness>
  publicUrl: string | undefined
  clock: Clock
  log: Log
}

/** Where `npm run build:console` puts the console. */
const consoleFolder = path.resolve(import.meta.dirname, '../../../dist/console')

/** The map of the HTTP surface: every group of routes, in the order of registration. */
export function createRoutes(dependencies: RouteDependencies): Routes[] {
  const { organisations, operatorTokens, accounts, adminLog, catalogue, operatorCatalogue, catalogueViews } =
    dependencies
  const { ledger, completions, documents, documentStore, blobs, index, answers, spaces, insights, chunks } =
    dependencies
  const { metrics, checkReadiness, publicUrl, clock, log } = dependencies
  if (dependencies.role === 'worker') return [operationsRoutes({ checkReadiness })]
  const getSpace = (id: string) => spaces.get(id)
  return [
    documentRoutes({ documents, clock }),
    gatewayRoutes({ completions, catalogue, clock, log }),
    otherEndpointRoutes,
    chatRoutes({
      ...answers,
      getSpace,
      getPublishedSpace: (endpointId) => spaces.getEndpoint(endpointId),
      noteAnswer: (given) => insights.note(given),
      beginRecord: dependencies.beginRecord,
      countCitations: (counts) => countCitations(metrics, counts),
      log,
    }),
    spaceSearchRoutes({ ...answers, getSpace }),
    authRoutes({ accounts }),
    peopleRoutes({ accounts }),
    passwordResetRoutes({ accounts }),
    peopleViewRoutes({ accounts, organisationName: (id) => organisations.get(id)?.name }),
    memberRoutes({ accounts, hasOrganisation: (id) => organisations.get(id) !== undefined }),
    organisationRoutes({ organisations, canonicalModelId: (id) => catalogue.canonicalId(id), clock }),
    modelSwitchRoutes({ organisations, canonicalModelId: (id) => catalogue.canonicalId(id) }),
    developerToolsViewRoutes({
      organisations,
      offeredModels: (organisation, nowMs) => catalogue.offered(organisation, nowMs),
      hasCredit: (organisation) => ledger.hasCredit(organisation),
      publicUrl,
      clock,
    }),
    ...spacePages(dependencies),
    ...documentPages(dependencies),
    spaceViews(dependencies),
    modelRoutes({ catalogue: operatorCatalogue }),
    modelViewRoutes({ views: catalogueViews }),
    usageRoutes({ ledger, organisations, clock }),
    journalRoutes({ ledger }),
    usageViewRoutes({
      reports: ledger.reports,
      insights,
      documentNames: chunks.loadNames,
      organisations,
      spaceName: (id) => spaces.get(id)?.name,
      clock,
    }),
    operationsRoutes({ checkReadiness }),
    staticRoutes({ folder: consoleFolder }),
    ...operatorPages(dependencies),
    backupRoutes(dependencies.backups),
    erasureRoutes({ erasures: dependencies.erasures, hasOrganisation: (id) => organisations.get(id) !== undefined }),
    operatorRoutes({ operatorTokens, reencryption: dependencies.reencryption }),
    adminLogRoutes({ adminLog, hasOrganisation: (id) => organisations.get(id) !== undefined }),
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

function countCitations({ citations }: Metrics, counts: object) {
  for (const [outcome, count] of Object.entries(counts)) citations.inc({ outcome }, count)
}

/** The files of Spaces, for people. */
function documentPages(dependencies: RouteDependencies): Routes[] {
  const { documents, documentStore, maximumUploadBytes, watch, chunks, viewer, blobs, spaces, clock, log } =
    dependencies
  const findSpace = (id: string) => spaces.get(id)
  return [
    documentProgressRoutes({ documents: documentStore, maximumUploadBytes, watch, chunks, findSpace, log }),
    documentSessionRoutes({
      documents,
      store: documentStore,
      findOrganisation: chunks.findOrganisation,
      findSpace,
      authorOf: (request) => ({ actor: actorOf(request), atMs: clock.now() }),
    }),
    documentViewerRoutes({ viewer, blobs }),
  ]
}

/** Spaces and their golden questions. */
function spacePages(dependencies: RouteDependencies): Routes[] {
  const { goldenQuestions, goldenSettings, goldenRuns, conversations, spaces } = dependencies
  const getSpace = (id: string) => spaces.get(id)
  return [
    spaceRoutes({ spaces }),
    spaceArchiveRoutes(dependencies.spaceArchives),
    goldenQuestionRoutes({ questions: goldenQuestions, getSpace }),
    goldenSettingsRoutes({ settings: goldenSettings, getSpace }),
    goldenRunRoutes({ runs: goldenRuns, getSpace }),
    conversationRoutes({ conversations, getSpace }),
  ]
}

/** Pages that only operators open. */
function operatorPages(dependencies: RouteDependencies): Routes[] {
  const { organisations, ledger, adminLog, catalogue, systemReport, organisationLists, clock } = dependencies
  return [
    systemView({ report: systemReport }),
    organisationsView({
      lists: organisationLists,
      organisations,
      ledger,
      adminLog,
      modelIds: () => [...catalogue.built().models.keys()],
      clock,
    }),
  ]
}

/** Pages about Spaces. */
function spaceViews(dependencies: RouteDependencies): Routes {
  const { spaces, organisations, documentStore, catalogue, publicUrl, clock } = dependencies
  return spaceViewRoutes({
    spaces,
    organisations,
    loadTotals: (organisationId, spaceIds) => documentStore.loadSpaceTotals(organisationId, spaceIds),
    offeredModels: (organisation, nowMs) => catalogue.offered(organisation, nowMs),
    isModelAvailable: (organisation, model) =>
      catalogue.resolve(organisation, model, clock.now())?.model.kind === 'chat',
    fallbackModel: (organisation) => catalogue.baseTierModels(organisation, clock.now())[0]?.id,
    publicUrl,
    clock,
  })
}
