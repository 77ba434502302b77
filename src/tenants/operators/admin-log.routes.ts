import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import {
  type AdminLogEntryBody,
  type AdminLogExportQuery,
  adminLogExportQuerySchema,
  type AdminLogPageBody,
  adminLogPageSchema,
  type AdminLogQuery,
  adminLogQuerySchema,
  organisationAdminLogExportQuerySchema,
  organisationAdminLogQuerySchema,
} from '../../contract/admin-log.ts'
import { errorResponses } from '../../contract/errors.ts'
import { idParamsSchema } from '../../contract/operator.ts'
import { type App, describeRoutes, type Routes, sendFile } from '../../platform/http/index.ts'
import { AppError, csvCell } from '../../platform/kernel/index.ts'
import { type Actor, actorOf, type AdminLog, type AdminLogEntry } from './admin-log.ts'

const forOperators = describeRoutes({ role: 'operator' }, 'Operator')

export interface AdminLogRoutesDependencies {
  adminLog: AdminLog
  hasOrganisation: (id: string) => boolean
}

const idOf = ({ params }: { params: unknown }) => (params as { id: string }).id.toLowerCase()

const administrators = {
  role: 'administrator',
  organisation: idOf,
  missing: (request: { params: unknown }) => noOrganisation(idOf(request)),
} as const
const forAdministrators = describeRoutes(administrators, 'Operator')

/** The admin log, of all and of one organisation: its list and its export. */
export function adminLogRoutes({ adminLog, hasOrganisation }: AdminLogRoutesDependencies): Routes {
  function knownId(request: { params: unknown }): string {
    const organisationId = idOf(request)
    if (!hasOrganisation(organisationId)) throw noOrganisation(organisationId)
    return organisationId
  }
  return (app) => {
    addLists(app, adminLog, knownId)
    addExports(app, adminLog, knownId)
  }
}

function addLists(app: App, adminLog: AdminLog, knownId: (request: { params: unknown }) => string) {
  app.get(
    '/api/admin-log',
    forOperators('listAdminLog', 'List administrative changes', {
      description: 'Newest first: who changed what and when, with the changed fields before and after.',
      querystring: adminLogQuerySchema,
      response: { 200: adminLogPageSchema, ...errorResponses(400, 401, 403) },
    }),
    (request) => loadPage(adminLog, request.query),
  )
  app.get(
    '/api/organisations/:id/admin-log',
    forAdministrators('listOrganisationAdminLog', 'List administrative changes of an organisation', {
      description: 'Newest first. `GET /api/admin-log` also has the changes of removed organisations.',
      params: idParamsSchema,
      querystring: organisationAdminLogQuerySchema,
      response: { 200: adminLogPageSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => loadPage(adminLog, { ...request.query, organisationId: knownId(request) }),
  )
}

const exported =
  'One line for each entry, oldest first, up to the time of the request: JSON Lines, or CSV with a header. The admin log records who exported.'

function addExports(app: App, adminLog: AdminLog, knownId: (request: { params: unknown }) => string) {
  app.get(
    '/api/admin-log/export',
    forOperators('exportAdminLog', 'Export administrative changes', {
      description: exported,
      querystring: adminLogExportQuerySchema,
      response: { 200: z.string(), ...errorResponses(400, 401, 403) },
    }),
    (request, reply) => sendExport(reply, adminLog, actorOf(request), request.query),
  )
  app.get(
    '/api/organisations/:id/admin-log/export',
    forAdministrators('exportOrganisationAdminLog', 'Export administrative changes of an organisation', {
      description: exported,
      params: idParamsSchema,
      querystring: organisationAdminLogExportQuerySchema,
      response: { 200: z.string(), ...errorResponses(400, 401, 403, 404) },
    }),
    (request, reply) =>
      sendExport(reply, adminLog, actorOf(request), { ...request.query, organisationId: knownId(request) }),
  )
}

async function loadPage(adminLog: AdminLog, query: AdminLogQuery): Promise<AdminLogPageBody> {
  const { entries, nextCursor } = await adminLog.loadPage({ ...query, actor: query.actor?.toLowerCase() })
  return { items: entries.map(renderEntry), nextCursor }
}

async function sendExport(
  reply: FastifyReply,
  adminLog: AdminLog,
  actor: Actor,
  { format, ...selection }: AdminLogExportQuery,
) {
  const pages = await adminLog.export(actor, format, { ...selection, actor: selection.actor?.toLowerCase() })
  return sendFile(reply, 'admin-log', format, renderAdminLog(pages, format))
}

function noOrganisation(id: string): AppError {
  return new AppError('organisation_not_found', `There is no organisation ${id}.`)
}

const renderEntry = (entry: AdminLogEntry): AdminLogEntryBody => ({ ...entry, at: entry.at.toISOString() })

const csvColumns = [
  'id',
  'at',
  'actor',
  'personId',
  'sessionId',
  'requestId',
  'action',
  'subjectType',
  'subjectId',
  'subjectName',
  'organisationId',
  'organisationName',
  'before',
  'after',
] as const satisfies readonly (keyof AdminLogEntryBody)[]

type AdminLogFormat = 'jsonl' | 'csv'

/** One line for each entry. CSV has a header, and no text that a spreadsheet would run as a formula; `before` and `after` are JSON in it. */
export async function* renderAdminLog(pages: AsyncIterable<readonly AdminLogEntry[]>, format: AdminLogFormat) {
  if (format === 'csv') yield `${csvColumns.join(',')}\r\n`
  const toLine = format === 'csv' ? toCsvLine : toJsonLine
  for await (const entries of pages) yield entries.map((entry) => toLine(renderEntry(entry))).join('')
}

const toJsonLine = (entry: AdminLogEntryBody) => `${JSON.stringify(entry)}\n`

function toCsvLine(entry: AdminLogEntryBody): string {
  const cells = csvColumns.map((name) => {
    const value = entry[name]
    return csvCell(typeof value === 'object' && value !== null ? JSON.stringify(value) : value)
  })
  return `${cells.join(',')}\r\n`
}
