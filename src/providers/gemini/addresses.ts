import { AppError } from '../../kernel/index.ts'
import type { ProviderSettings } from '../port.ts'
import { asName, parseJsonObject } from '../wire-json.ts'

const geminiHost = 'https://generativelanguage.googleapis.com'

/** Where the resources of the Gemini API lie; an operator may write the base with or without its version. */
export function geminiRoot(settings: ProviderSettings): string {
  const base = (settings.baseUrl ?? geminiHost).replace(/\/+$/, '')
  return /\/v1(beta|alpha)?$/.test(base) ? base : `${base}/${settings.apiVersion ?? 'v1beta'}`
}

/** Ids with a folder of their own (`tunedModels/x`) are kept, plain ones are models. */
export function geminiModelPath(id: string): string {
  return id.includes('/') ? escapePath(id) : `models/${encodeURIComponent(id)}`
}

/**
 * Where the models of one Vertex project and location lie, without the model. Multi-regions (`eu`, `us`) have hosts of their
 * own whose processing stays there; `global` and a key without a project (express mode) may be processed anywhere.
 * Throws AppError where the project or the region is not known: a call must never leave for a place nobody chose.
 */
export function vertexRoot(settings: ProviderSettings): string {
  const version = settings.apiVersion ?? 'v1'
  const location = settings.region
  const base = (settings.baseUrl ?? vertexHost(location ?? 'global')).replace(/\/+$/, '')
  const project = settings.project ?? projectOfCredentials(settings.credentials)
  if (!project && settings.apiKey) return `${base}/${version}`
  if (!project) throw new AppError('invalid_request', 'Vertex AI needs a project.', { param: 'project' })
  if (!location) {
    throw new AppError('invalid_request', 'Vertex AI needs a region: one such as europe-west4, or eu, us or global.', {
      param: 'region',
    })
  }
  return `${base}/${version}/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}`
}

function vertexHost(location: string): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com'
  if (location === 'eu' || location === 'us') return `https://aiplatform.${location}.rep.googleapis.com`
  return `https://${location}-aiplatform.googleapis.com`
}

/** Google's own models by id; others by their path (`publishers/…/models/…`, `endpoints/…`). */
export function vertexModelPath(id: string): string {
  return id.includes('/') ? escapePath(id) : `publishers/google/models/${encodeURIComponent(id)}`
}

function projectOfCredentials(credentials: string | undefined): string | null {
  return credentials === undefined ? null : asName(parseJsonObject(credentials)?.project_id)
}

function escapePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
