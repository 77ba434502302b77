import type { Config } from '../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { openServer } from './server.ts'

export type DescribedPart = readonly [name: string, description: string]

/** The lines that a start prints: where the service listens, and what it consists of. */
export function describeStart(
  { settings: { server, dataFolder } }: Config,
  control: Database,
  { version, url, metricsUrl }: Pick<ReturnType<typeof openServer>, 'version' | 'url' | 'metricsUrl'>,
  parts: readonly DescribedPart[],
): string {
  const { role } = server
  const store =
    control.engine === 'embedded' ? `embedded, in ${dataFolder}` : `PostgreSQL ${control.features.serverVersion}`
  const lines: (readonly [string, string])[] = [
    ...(role === 'all' ? [] : [['role', role] as const]),
    ...(role === 'all' || role === 'api'
      ? ([
          ['console', `${server.publicUrl?.replace(/\/+$/, '') ?? url()}/console`],
          ['API page', `${url()}/docs`],
        ] as const)
      : []),
    ['metrics', metricsUrl() ?? 'off'],
    ['database', store],
    ...parts,
  ]
  return [
    `Portico ${version} listening on ${url()}`,
    ...lines.map(([name, text]) => `  ${name.padEnd(10)} ${text}`),
  ].join('\n')
}

interface DescribedDocumentParts {
  blobs: { label: string }
  index: { engine: { description: string } }
  embedders: { current(): { label: string } }
  reranker: { label: string } | undefined
}

/** The lines of a process that has to do with documents. */
export function describeDocumentParts({ blobs, index, embedders, reranker }: DescribedDocumentParts): DescribedPart[] {
  return [
    ['files', blobs.label],
    ['search', index.engine.description],
    ['embedder', embedders.current().label],
    ...(reranker ? [['reranker', reranker.label] as const] : []),
  ]
}
