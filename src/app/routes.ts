import path from 'node:path'
import {
  authRoutes,
  memberRoutes,
  passwordResetRoutes,
  peopleRoutes,
  singleSignOnRoutes,
} from '../tenants/accounts/index.ts'
import { backupRoutes } from './backup/index.ts'
import { repairRoutes, usageRoutes } from '../gateway/billing/index.ts'
import { chatRoutes, publishedSearchRoutes, spaceSearchRoutes } from '../chat/chat/index.ts'
import { mcpRoutes } from '../chat/mcp/index.ts'
import {
  developerToolsViewRoutes,
  healthView,
  installationView,
  modelViewRoutes,
  organisationsView,
  originOf,
  peopleViewRoutes,
  spaceViewRoutes,
  staticRoutes,
  systemView,
  usageViewRoutes,
  visitorPageRoutes,
} from '../console/index.ts'
import { conversationRoutes, ownChatRoutes, ratingRoutes } from '../chat/conversations/index.ts'
import {
  createDocumentAudit,
  documentProgressRoutes,
  documentRoutes,
  documentViewerRoutes,
  webSourceRoutes,
  documentSessionRoutes,
} from '../documents/documents/index.ts'
import { isOcrInstalled } from '../documents/ingestion/index.ts'
import { erasureRoutes } from '../chat/erasures/index.ts'
import {
  goldenProposalRoutes,
  goldenQuestionRoutes,
  goldenRunRoutes,
  goldenSettingsRoutes,
} from '../chat/golden-questions/index.ts'
import { operationsRoutes, type Routes } from '../platform/http/index.ts'
import { modelRoutes } from '../gateway/models/index.ts'
import { alertRoutes, renderAlert } from '../tenants/alerts/index.ts'
import { semanticSearchRoutes } from '../documents/retrieval/index.ts'
import { actorOf, adminLogRoutes, auditRoutes, findingsOfCounts, operatorRoutes } from '../tenants/operators/index.ts'
import { modelSwitchRoutes, organisationRoutes } from '../tenants/organisations/index.ts'
import { toolServerRoutes } from '../chat/space-tools/index.ts'
import { spaceArchiveRoutes } from '../chat/space-archives/index.ts'
import { spaceRoutes } from '../chat/spaces/index.ts'
import {
  loadOutline,
  siteRoutes,
  suggestQuestions,
  visitChatRoutes,
  visitDocumentRoutes,
  visitRoutes,
} from '../chat/visitors/index.ts'
import type { Parts } from './compose.ts'
import { modelCallRoutes } from './gateway-routes.ts'

/** Where `npm run build:console` puts the console. */
const consoleFolder = path.resolve(import.meta.dirname, '../../dist/console')
const visitorFolder = path.resolve(import.meta.dirname, '../../dist/visitor')

/** Open budget alerts on the Usage page of an organisation. */
const shownBudgetAlerts = 10

/** The map of the HTTP surface: every group of routes, in the order of registration. */
export function createRoutes(parts: Parts): Routes[] {
  return [
    documentRoutes({ documents: parts.documents, webSources: parts.webSources, clock: parts.clock }),
    ...modelCallRoutes(parts),
    ...answerRoutes(parts),
    ...visitorRoutes(parts),
    ...accountRoutes(parts),
    ...organisationPages(parts),
    ...spacePages(parts),
    ...documentPages(parts),
    spaceViews(parts),
    modelRoutes({ catalogue: parts.operatorCatalogue }),
    modelViewRoutes({ views: parts.catalogueViews }),
    ...usagePages(parts),
    operationsRoutes({ checkReadiness: parts.checkReadiness }),
    staticRoutes({ folder: consoleFolder }),
    visitorPageRoutes({ folder: visitorFolder, pagePolicyOf: (name) => parts.sites.pagePolicyOf(name) }),
    ...operatorPages(parts),
  ]
}

type AnswerParts = Pick<Parts, 'answers' | 'insights' | 'conversationRecords' | 'metrics' | 'log'>

/** What every answer of a published Space needs. */
function publishedAnswers({ answers, insights, conversationRecords, metrics, log }: AnswerParts) {
  return {
    ...answers,
    noteAnswer: insights.note,
    beginRecord: conversationRecords.begin,
    citations: metrics.citations,
    log,
  }
}

/** Answers of Spaces, and the search that they begin with. */
function answerRoutes(parts: AnswerParts & Pick<Parts, 'spaces' | 'runningAnswers'>): Routes[] {
  const { answers, spaces, runningAnswers } = parts
  const { get: getSpace, getEndpoint: getPublishedSpace } = spaces
  const published = { ...publishedAnswers(parts), getPublishedSpace }
  return [
    chatRoutes({ ...published, getSpace, runningAnswers }),
    mcpRoutes(published),
    publishedSearchRoutes(published),
    spaceSearchRoutes({ ...answers, getSpace }),
  ]
}

/** The websites of Spaces: their settings, and what browsers of visitors call. */
function visitorRoutes(
  parts: AnswerParts &
    Pick<Parts, 'sites' | 'siteSpending' | 'visits' | 'spaces' | 'goldenStores' | 'corpus' | 'conversations'> &
    Pick<Parts, 'viewer' | 'blobs' | 'config'>,
): Routes[] {
  const { sites, siteSpending: spending, visits, spaces, goldenStores, corpus, conversations, viewer, blobs } = parts
  const { publicUrl } = parts.config.settings.server
  return [
    siteRoutes({
      sites,
      spending,
      getSpace: spaces.get,
      findOrganisation: visits.findOrganisation,
      async suggest({ id: spaceId, organisationId }) {
        const { questions } = await goldenStores.questions(organisationId).loadPage({ spaceId, limit: 6, offset: 0 })
        const asked = questions.map(({ messages }) => messages.at(-1)!.content)
        return suggestQuestions(asked, await loadOutline(corpus, { organisationId, spaceId }))
      },
      originOf: (request) => (publicUrl === undefined ? originOf(request) : new URL(publicUrl).origin),
    }),
    visitRoutes({ ...visits, sites, spending }),
    visitChatRoutes({ ...publishedAnswers(parts), ...visits, sites, spending, conversations }),
    visitDocumentRoutes({ ...visits, viewer, blobs }),
  ]
}

/** Sign-in, accounts and memberships. */
function accountRoutes({ accounts, organisations }: Pick<Parts, 'accounts' | 'organisations'>): Routes[] {
  return [
    authRoutes({ accounts }),
    peopleRoutes({ accounts }),
    passwordResetRoutes({ accounts }),
    singleSignOnRoutes({ accounts }),
    peopleViewRoutes({ accounts, organisationName: (id) => organisations.get(id)?.name }),
    memberRoutes({ accounts, hasOrganisation: (id) => organisations.get(id) !== undefined }),
  ]
}

function organisationPages({
  organisations,
  catalogue,
  ledger,
  config,
  clock,
}: Pick<Parts, 'organisations' | 'catalogue' | 'ledger' | 'config' | 'clock'>): Routes[] {
  const canonicalModelId = (id: string) => catalogue.canonicalId(id)
  return [
    organisationRoutes({ organisations, canonicalModelId, clock }),
    modelSwitchRoutes({ organisations, canonicalModelId }),
    developerToolsViewRoutes({
      organisations,
      catalogue,
      hasCredit: (organisation) => ledger.hasCredit(organisation),
      publicUrl: config.settings.server.publicUrl,
      clock,
    }),
  ]
}

function usagePages({
  ledger,
  organisations,
  insights,
  chunks,
  spaces,
  alerts,
  clock,
}: Pick<Parts, 'ledger' | 'organisations' | 'insights' | 'chunks' | 'spaces' | 'alerts' | 'clock'>): Routes[] {
  return [
    usageRoutes({ ledger, organisations, clock }),
    repairRoutes({ ledger }),
    usageViewRoutes({
      reports: ledger.reports,
      insights,
      documentNames: chunks.loadNames,
      organisations,
      spaceName: (id) => spaces.get(id)?.name,
      loadBudgetAlerts: async (id) => (await alerts.loadOfOrganisation(id, shownBudgetAlerts, 'open')).map(renderAlert),
      clock,
    }),
  ]
}

/** The files of Spaces, for people. */
function documentPages({
  documents,
  documentStore,
  webSources,
  watch,
  chunks,
  viewer,
  blobs,
  spaces,
  config,
  clock,
  log,
}: Pick<
  Parts,
  | 'webSources'
  | 'documents'
  | 'documentStore'
  | 'watch'
  | 'chunks'
  | 'viewer'
  | 'blobs'
  | 'spaces'
  | 'config'
  | 'clock'
  | 'log'
>): Routes[] {
  const findSpace = spaces.get
  const { maximumUploadBytes } = config.settings.documents
  const authorOf = (request: Parameters<typeof actorOf>[0]) => ({ actor: actorOf(request), atMs: clock.now() })
  return [
    webSourceRoutes({ webSources, findSpace, authorOf }),
    documentProgressRoutes({
      documents: documentStore,
      maximumUploadBytes,
      isTextRecognitionInstalled: () => config.settings.ocr.url !== undefined || isOcrInstalled(),
      watch,
      chunks,
      findSpace,
      clock,
      log,
    }),
    documentSessionRoutes({
      documents,
      store: documentStore,
      findOrganisation: chunks.findOrganisation,
      findSpace,
      authorOf,
    }),
    documentViewerRoutes({ viewer, blobs }),
  ]
}

/** Spaces, their golden questions and what is kept of their conversations. */
function spacePages({
  spaces,
  spaceArchives,
  toolServers,
  goldenQuestions,
  goldenProposals,
  goldenSettings,
  goldenRuns,
  conversations,
  ownChats,
}: Pick<
  Parts,
  | 'spaces'
  | 'spaceArchives'
  | 'toolServers'
  | 'goldenQuestions'
  | 'goldenProposals'
  | 'goldenSettings'
  | 'goldenRuns'
  | 'conversations'
  | 'ownChats'
>): Routes[] {
  const { get: getSpace, getEndpoint: getPublishedSpace } = spaces
  return [
    spaceRoutes({ spaces }),
    spaceArchiveRoutes(spaceArchives),
    toolServerRoutes({ servers: toolServers, getSpace }),
    goldenQuestionRoutes({ questions: goldenQuestions, getSpace }),
    goldenProposalRoutes({ proposals: goldenProposals, getSpace }),
    goldenSettingsRoutes({ settings: goldenSettings, getSpace }),
    goldenRunRoutes({ runs: goldenRuns, getSpace }),
    conversationRoutes({ conversations, getSpace }),
    ownChatRoutes({ chats: ownChats, getSpace }),
    ratingRoutes({ conversations, getPublishedSpace }),
  ]
}

/** Pages about Spaces. */
function spaceViews({
  spaces,
  organisations,
  documentStore,
  catalogue,
  config,
  clock,
}: Pick<Parts, 'spaces' | 'organisations' | 'documentStore' | 'catalogue' | 'config' | 'clock'>): Routes {
  return spaceViewRoutes({
    spaces,
    organisations,
    loadTotals: (organisationId, spaceIds) => documentStore.loadSpaceTotals(organisationId, spaceIds),
    offeredModels: (organisation, nowMs) => catalogue.offered(organisation, nowMs),
    isModelAvailable: (organisation, model) =>
      catalogue.resolve(organisation, model, clock.now())?.model.kind === 'chat',
    fallbackModel: (organisation) => catalogue.baseTierModels(organisation, clock.now())[0]?.id,
    publicUrl: config.settings.server.publicUrl,
    clock,
  })
}

/** What only operators open. */
function operatorPages(
  parts: Pick<
    Parts,
    | 'organisations'
    | 'ledger'
    | 'adminLog'
    | 'catalogue'
    | 'systemReport'
    | 'organisationLists'
    | 'healthReport'
    | 'alerts'
  > &
    Pick<Parts, 'backup' | 'backupRecord' | 'erasures' | 'operatorTokens' | 'reencryption'> &
    Pick<Parts, 'index' | 'documentStore' | 'blobs' | 'clock' | 'semanticSearch' | 'localModel'>,
): Routes[] {
  const { organisations, ledger, adminLog, catalogue, index, documentStore, blobs, clock } = parts
  const hasOrganisation = (id: string) => organisations.get(id) !== undefined
  return [
    systemView({ report: parts.systemReport }),
    healthView({ report: parts.healthReport }),
    alertRoutes({ alerts: parts.alerts, hasOrganisation }),
    semanticSearchRoutes({ semanticSearch: parts.semanticSearch, localModel: parts.localModel }),
    installationView({ reports: ledger.installation, organisations, clock }),
    organisationsView({
      lists: parts.organisationLists,
      organisations,
      ledger,
      adminLog,
      modelIds: () => [...catalogue.built().models.keys()],
      clock,
    }),
    backupRoutes({ backup: parts.backup, record: parts.backupRecord }),
    erasureRoutes({ erasures: parts.erasures, hasOrganisation }),
    operatorRoutes({ operatorTokens: parts.operatorTokens, reencryption: parts.reencryption }),
    adminLogRoutes({ adminLog, hasOrganisation }),
    auditRoutes({
      checks: [
        { area: 'ledger', run: async () => (await ledger.audit()).findings },
        { area: 'index', run: async () => findingsOfCounts(await index.audit()) },
        createDocumentAudit({ store: documentStore, blobs, clock }),
      ],
      onAudited: (findings) => parts.alerts.noteAudit(findings),
      clock,
    }),
  ]
}
