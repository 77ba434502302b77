import { isDeepStrictEqual } from 'node:util'
import fastifySwagger from '@fastify/swagger'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { Role } from '../kernel/index.ts'
import type { App } from './route.ts'
import type { RouteAuthentication } from './caller.ts'
import { isOfVisits } from './identity.ts'

type Json = Record<string, unknown>

/**
 * `GET /openapi.json` and the page `/docs`, generated from the schemas of the routes. Register it before the routes.
 */
export function describeApi(
  app: App,
  { version, publicUrl, role = 'all' }: { version: string; publicUrl: string | undefined; role?: Role },
) {
  void app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Portico',
        version,
        description: 'Model gateway, document management and published Space chat behind one API key per organisation.',
      },
      // Without a public address, clients use the server that returned the document.
      servers: [{ url: publicUrl ?? '/' }],
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
          bearer: { type: 'http', scheme: 'bearer' },
          operator: { type: 'http', scheme: 'bearer', description: 'The operator token.' },
          visit: { type: 'http', scheme: 'bearer', description: 'The session of a visitor of a Space’s website.' },
          session: { type: 'apiKey', in: 'cookie', name: 'portico.session_token', description: 'A signed-in person.' },
        },
      },
    },
    transform: (input) => {
      const transformed = transformBodies(input)
      const auth = (input.route.config as { auth?: RouteAuthentication } | undefined)?.auth
      return { ...transformed, schema: { ...transformed.schema, security: securityOf(auth) } as never }
    },
    transformObject: (document) => mergeSchemas(jsonSchemaTransformObject(document) as Json) as never,
  })
  if (role === 'gateway' || role === 'worker') return
  void app.register(import('@fastify/swagger-ui'), {
    routePrefix: '/docs',
    uiConfig: { deepLinking: true, tryItOutEnabled: true, persistAuthorization: false },
    theme: {
      title: 'Portico API',
      css: [{ filename: 'portico.css', content: '.swagger-ui .topbar { display: none }' }],
    },
  })
}

type TransformInput = Parameters<typeof jsonSchemaTransform>[0]

/** The type provider transforms a body with one schema; a route may have one for each content type. */
function transformBodies(input: TransformInput): ReturnType<typeof jsonSchemaTransform> {
  const content = (input.schema?.body as { content?: Record<string, { schema: unknown }> } | undefined)?.content
  if (!content) return jsonSchemaTransform(input)
  const withBody = (body: unknown) => jsonSchemaTransform({ ...input, schema: { ...input.schema, body } as never })
  const bodies = Object.entries(content).map(([type, { schema }]) => [
    type,
    { schema: withBody(schema).schema['body'] },
  ])
  const { schema, url } = withBody(undefined)
  return { schema: { ...schema, body: { content: Object.fromEntries(bodies) } }, url }
}

function securityOf(auth: RouteAuthentication | undefined): Json[] {
  if (auth === 'organisation') return [{ apiKey: [] }, { bearer: [] }]
  if (auth === undefined || auth === 'none' || auth === 'own page') return []
  if (isOfVisits(auth)) return [{ visit: [] }]
  return [{ operator: [] }, { session: [] }, ...(auth.role === 'visitor' ? [{}] : [])]
}

const prefix = '#/components/schemas/'
const inputSuffix = 'Input'

/**
 * One schema per shape. The type provider describes each shape twice, for input (`XInput`) and for output (`X`). Unused names are
 * removed; `XInput` is renamed to `X` if that name is unused or has the same schema.
 */
function mergeSchemas(document: Json): Json {
  const components = document['components'] as { schemas: Record<string, unknown> }
  const { schemas } = components
  const used = reachable(document['paths'], schemas)
  const renamed = new Map<string, string>()
  for (const name of used) {
    const plain = name.endsWith(inputSuffix) ? name.slice(0, -inputSuffix.length) : name
    if (plain === name || !(plain in schemas)) continue
    if (!used.has(plain) || isDeepStrictEqual(withoutSuffix(schemas[name]), withoutSuffix(schemas[plain])))
      renamed.set(prefix + name, prefix + plain)
  }
  const merged: Record<string, unknown> = {}
  for (const name of [...used].toSorted()) {
    const target = renamed.get(prefix + name) ?? prefix + name
    merged[target.slice(prefix.length)] = withRefs(schemas[name], renamed)
  }
  return {
    ...document,
    paths: withRefs(document['paths'], renamed),
    components: { ...components, schemas: merged },
  }
}

/** Names of all schemas that a value references, directly or through other schemas. */
function reachable(value: unknown, schemas: Record<string, unknown>): Set<string> {
  const found = new Set<string>()
  const visit = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return
    for (const [key, child] of Object.entries(node)) {
      if (key !== '$ref' || typeof child !== 'string') visit(child)
      else if (child.startsWith(prefix) && !found.has(child.slice(prefix.length))) {
        found.add(child.slice(prefix.length))
        visit(schemas[child.slice(prefix.length)])
      }
    }
  }
  visit(value)
  return found
}

const withoutSuffix = (schema: unknown) =>
  mapRefs(schema, (ref) => (ref.endsWith(inputSuffix) ? ref.slice(0, -inputSuffix.length) : ref), true)

const withRefs = (value: unknown, renamed: ReadonlyMap<string, string>) =>
  mapRefs(value, (ref) => renamed.get(ref) ?? ref, false)

/** A copy with every `$ref` changed. `plain` omits `additionalProperties: false`, which only one direction has. */
function mapRefs(value: unknown, change: (ref: string) => string, plain: boolean): unknown {
  if (Array.isArray(value)) return value.map((entry) => mapRefs(entry, change, plain))
  if (typeof value !== 'object' || value === null) return value
  const copy: Json = {}
  for (const [key, child] of Object.entries(value)) {
    if (key === '$ref' && typeof child === 'string') copy[key] = change(child)
    else if (!(plain && key === 'additionalProperties' && child === false)) copy[key] = mapRefs(child, change, plain)
  }
  return copy
}
