import type { DocumentBody, DocumentWarning } from '../../src/contract/documents.ts'
import type { DocumentProgressBody } from '../../src/contract/document-progress.ts'
import { type Context, readTextFile } from '../context.ts'
import { type CliCommand, assertConfirmed, collect, givenFields, parseWhole } from '../define.ts'
import { FailedError, UsageError } from '../errors.ts'
import { defaultLimit, loadItems } from '../paging.ts'
import { createRetries } from '../retries.ts'
import { type UploadOutcome, findFiles, uploadAll, waitUntilProcessed } from '../upload.ts'

interface UploadOptions {
  space?: string
  name?: string
  metadata?: string
  wait?: boolean
  onDuplicate: string
  parallel: number
}

/** `portico document …` */
export function addDocumentCommands(program: CliCommand): void {
  const documents = program
    .command('document')
    .alias('doc')
    .description("Documents of a Space, with the organisation's API key.")
  addUpload(documents)
  addReads(documents)
  addChanges(documents)
}

function addUpload(documents: CliCommand) {
  documents
    .command('upload <path...>')
    .description('Upload files, or all supported files of folders.')
    .option('--space <space>', 'the Space; default: PORTICO_SPACE_ID')
    .option('--name <name>', 'display name, for a single file')
    .option('--metadata <json>', 'a JSON object, or @FILE; a top-level url is shown on citations')
    .option(
      '--on-duplicate <what>',
      'if a document has the same name: keep both, skip the file, or replace the document',
      'keep',
    )
    .option('--wait', 'wait until all are processed; exit code 1 if one fails')
    .option('--parallel <count>', 'uploads at the same time', parseWhole, 2)
    .examples(
      'portico document upload handbook.pdf --wait',
      'portico document upload ./docs --space SPACE_ID --parallel 4',
      `portico document upload a.md --metadata '{"url": "https://example.org/a"}'`,
    )
    .run(async (context, options: UploadOptions, paths: string[]) => {
      const { output, organisation, process } = context
      const client = organisation()
      const files = findFiles(paths)
      if (options.name !== undefined && files.length !== 1) throw new UsageError('--name is for a single file.')
      if (options.parallel < 1) throw new UsageError('--parallel must be at least 1.')
      const outcomes = await uploadAll(client, files, {
        spaceId: spaceOf(context, options),
        name: options.name,
        metadata: options.metadata === undefined ? undefined : checkMetadata(options.metadata),
        onDuplicate: options.onDuplicate,
        wait: options.wait ?? false,
        parallel: options.parallel,
        signal: process.signal,
        retries: createRetries(process.signal),
        onProgress: (done, current) => output.progress(`${done} of ${files.length}  ${current}`),
      })
      output.progress('')
      const failed = outcomes.filter(({ error }) => error !== null)
      output.result({ uploaded: outcomes.length - failed.length, failed: failed.length, files: outcomes }, () =>
        output.table(['FILE', 'STATUS', 'DOCUMENT', 'REMARK'], outcomes.map(toRow), 'Nothing was uploaded.'),
      )
      if (failed.length > 0) throw new FailedError(`${failed.length} of ${files.length} files failed.`)
    })
}

interface ListOptions {
  limit: number
  space?: string
  metadata?: string[]
}

function metadataQuery(given: readonly string[]): string {
  const parameters = given.map((text) => {
    const [field, ...value] = text.split('=')
    if (field === '' || value.length === 0) throw new UsageError(`--metadata ${text}: write FIELD=VALUE.`)
    return `&metadata.${encodeURIComponent(field!)}=${encodeURIComponent(value.join('='))}`
  })
  return parameters.join('')
}

function addReads(documents: CliCommand) {
  documents
    .command('list [space]')
    .description("List the documents of a Space, newest first, with the organisation's API key or the operator token.")
    .option('--space <space>', 'the Space, instead of the argument; default: PORTICO_SPACE_ID')
    .option(
      '--metadata <field=value>',
      'only documents with this field, or with field.gte (gt, lt, lte) in a range; repeatable',
      collect,
    )
    .option('--limit <count>', 'maximum number of items', parseWhole, defaultLimit)
    .examples(
      'portico document list --space SPACE_ID',
      'portico document list --metadata customer=acme --metadata year.gte=2024',
      'portico document list --limit 1000 --json',
    )
    .run(async (context, options: ListOptions, space: string | undefined) => {
      const { output } = context
      if (space !== undefined && options.space !== undefined && space !== options.space)
        throw new UsageError('The argument and --space name different Spaces: give one of them.')
      const { client, kind } = context.either()
      const id = encodeURIComponent(spaceOf(context, { space: space ?? options.space }))
      const filter = metadataQuery(options.metadata ?? [])
      if (kind === 'operator' && filter !== '') throw new UsageError("--metadata needs the organisation's API key.")
      const path = kind === 'operator' ? `/api/spaces/${id}/documents` : `/v2/documents?spaceId=${id}${filter}`
      const page = await loadItems<DocumentBody | DocumentProgressBody>(client, path, options.limit)
      output.result(page, () => {
        output.table(
          ['ID', 'NAME', 'STATUS', 'BYTES', 'CREATED'],
          page.items.map(({ id, name, status, warnings, sizeBytes, createdAt }) => [
            id,
            name,
            warnings?.length ? `${status}, ${countOf(warnings.length, 'warning')}` : status,
            sizeBytes,
            createdAt,
          ]),
          'There is no document. Upload one with: portico document upload FILE',
        )
        if (page.items.length < page.total) output.note(`${page.items.length} of ${page.total}; --limit shows more.`)
      })
    })
  documents
    .command('show <document>')
    .description('Show a document with its status.')
    .option('--wait', 'wait until it is processed')
    .examples('portico document show DOCUMENT_ID --wait')
    .run(async ({ output, organisation, process }, options: { wait?: boolean }, id: string) => {
      const client = organisation()
      const found = options.wait
        ? await waitUntilProcessed(client, id, process.signal)
        : await client.get<DocumentBody>(pathOf(id))
      output.result(found, () =>
        output.fields([
          ['id', found.id],
          ['name', found.name],
          ['space', found.spaceId],
          ['status', found.status],
          ['failure', found.error && `${found.error.code}: ${found.error.message}`],
          ...(found.warnings ?? []).map((warning): [string, string] => ['warning', describeWarning(warning)]),
          ['bytes', found.sizeBytes],
          ['type', found.mimeType],
          ['metadata', found.metadata && JSON.stringify(found.metadata)],
          ['created', found.createdAt],
          ['changed', found.updatedAt],
        ]),
      )
      if (options.wait && found.status === 'failed') throw new FailedError(`${found.name} could not be processed.`)
    })
}

function addChanges(documents: CliCommand) {
  documents
    .command('update <document>')
    .description('Rename a document or replace its metadata.')
    .option('--name <name>', 'new display name')
    .option('--metadata <json>', 'a JSON object, @FILE, or none to clear it')
    .examples('portico document update DOCUMENT_ID --name "Handbook 2027"')
    .run(async ({ output, organisation }, options: { name?: string; metadata?: string }, id: string) => {
      const { name, metadata: text } = options
      const metadata = text === 'none' ? null : text === undefined ? undefined : JSON.parse(checkMetadata(text))
      const body = givenFields({ name, metadata }, 'Give --name or --metadata.')
      const changed = await organisation().send<{ id: string; name: string }>('PATCH', pathOf(id), body)
      output.result(changed, () => output.line(`Changed ${changed.name} (${changed.id}).`))
    })
  documents
    .command('delete <document...>')
    .description('Delete documents with their chunks and vectors.')
    .option('--yes', 'confirm (required)')
    .examples('portico document delete DOCUMENT_ID --yes')
    .run(async ({ output, organisation }, options: { yes?: boolean }, ids: string[]) => {
      assertConfirmed(
        options.yes,
        `This deletes ${ids.length === 1 ? 'the document' : `${ids.length} documents`} permanently.`,
      )
      const client = organisation()
      for (const id of ids) await client.send('DELETE', pathOf(id))
      output.result({ deleted: ids }, () => {
        for (const id of ids) output.line(`Deleted ${id}.`)
      })
    })
}

export function spaceOf({ process }: Context, { space }: { space?: string | undefined }): string {
  const id = space ?? process.environment.PORTICO_SPACE_ID
  if (id) return id
  throw new UsageError(
    'This command needs a Space. Name it, or set PORTICO_SPACE_ID. List them with: portico space list',
  )
}

/** The JSON text of the option's object. */
function checkMetadata(given: string): string {
  const text = given.startsWith('@') ? readTextFile(given.slice(1), '--metadata') : given
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new UsageError(`--metadata must be a JSON object, such as '{"url": "https://example.org"}'.`)
  }
  return text
}

/** The object of the option. */
export function parseMetadata(given: string): Record<string, unknown> {
  return JSON.parse(checkMetadata(given)) as Record<string, unknown>
}

function toRow({ file, status, documentId, error, duplicateOf, warnings }: UploadOutcome) {
  const remark = [duplicateOf === null ? '' : `same content as ${duplicateOf}`, ...warnings].filter(Boolean).join('; ')
  return [file, status, documentId, error ?? remark]
}

/** Page numbers that one warning lists. */
const shownPages = 10

function describeWarning({ message, pages = [] }: DocumentWarning): string {
  if (pages.length === 0) return message
  const more = pages.length > shownPages ? ` and ${pages.length - shownPages} more` : ''
  return `${message} Pages: ${pages.slice(0, shownPages).join(', ')}${more}`
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function pathOf(id: string): string {
  return `/v1/documents/${encodeURIComponent(id)}`
}
