import { invalidField } from '../../../platform/kernel/index.ts'
import type { ProviderSettings } from '../port.ts'
import { asName, parseJsonObject } from '../wire-json.ts'

const geminiHost = 'https://generativelanguage.googleapis.com'

/** Root of the Gemini API; operators may configure the base with or without its version. */
export function geminiRoot(settings: ProviderSettings): string {
  const base = (settings.baseUrl ?? geminiHost).replace(/\/+$/, '')
  return /\/v1(beta|alpha)?$/.test(base) ? base : `${base}/${settings.apiVersion ?? 'v1beta'}`
}

/** Ids with a folder (`tunedModels/x`) are kept, plain ones are models. */
export function geminiModelPath(id: string): string {
  return id.includes('/') ? escapePath(id) : `models/${encodeURIComponent(id)}`
}

/**
 * Address of the models of one Vertex project and location, without the model. Multi-regions (`eu`, `us`) have separate hosts that process
 * there; `global` and a key without a project (express mode) may be processed anywhere. Throws AppError if the project or the region is
 * missing: a call must never go to a location that was not configured.
 */
export function vertexRoot(settings: ProviderSettings): string {
  const version = settings.apiVersion ?? 'v1'
  const location = settings.region
  const base = (settings.baseUrl ?? vertexHost(location ?? 'global')).replace(/\/+$/, '')
  const project = settings.project ?? projectOfCredentials(settings.credentials)
  if (!project && settings.apiKey) return `${base}/${version}`
  if (!project) throw invalidField('project', 'Vertex AI needs a project.')
  if (!location) {
    throw invalidField('region', 'Vertex AI needs a region: one such as europe-west4, or eu, us or global.')
  }
  return `${base}/${version}/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}`
}

function vertexHost(location: string): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com'
  if (location === 'eu' || location === 'us') return `https://aiplatform.${location}.rep.googleapis.com`
  return `https://${location}-aiplatform.googleapis.com`
}

/** Google's models by id; other publishers' by path (`publishers/…/models/…`, `endpoints/…`). */
export function vertexModelPath(id: string): string {
  return id.includes('/') ? escapePath(id) : `publishers/google/models/${encodeURIComponent(id)}`
}

function projectOfCredentials(credentials: string | undefined): string | null {
  return credentials === undefined ? null : asName(parseJsonObject(credentials)?.project_id)
}

function escapePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
