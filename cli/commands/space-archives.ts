import { createReadStream, existsSync, statSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { extract } from 'tar-stream'
import { type ImportedSpaceBody, spaceManifestName, spaceManifestSchema } from '../../src/contract/space-archives.ts'
import type { Context } from '../context.ts'
import type { CliCommand } from '../define.ts'
import { FailedError, UsageError } from '../errors.ts'
import { findOrganisationId } from '../find-organisation.ts'
import { saveStream } from '../save-stream.ts'

interface ImportOptions {
  from: string
  organisation: string
  name?: string
  model?: string
}

/** `portico space export` and `portico space import` */
export function addArchiveCommands(space: CliCommand): void {
  space
    .command('export')
    .description('Write a Space with its documents, vectors and golden questions to an archive.')
    .requiredOption('--space <space>', 'id of the Space')
    .requiredOption('--to <file>', 'the archive; it must not exist')
    .examples('portico space export --space SPACE_ID --to handbook.tar')
    .run(async (context, { space: id, to }: { space: string; to: string }) => {
      const facts = await exportSpace(context, id, path.resolve(to))
      context.output.result(facts, () => {
        context.output.line(`${to} is complete.`)
        context.output.fields([
          ['documents', facts.documents],
          ['chunks', facts.chunks],
          ['golden questions', facts.goldenQuestions],
          ['bytes', facts.bytes],
        ])
      })
    })
  space
    .command('import')
    .description('Make a new Space from an archive, in this or another installation.')
    .requiredOption('--from <file>', 'the archive')
    .requiredOption('--organisation <organisation>', 'id or name of the organisation')
    .option('--name <name>', 'name of the new Space; default: the one in the archive')
    .option('--model <id>', 'model of the new Space; default: the one in the archive')
    .examples(
      'portico space import --from handbook.tar --organisation Acme',
      'portico space import --from handbook.tar --organisation Acme --name Handbook --model eu/mistral-large',
    )
    .run(async (context, options: ImportOptions) => {
      const imported = await importSpace(context, options)
      context.output.result(imported, () => showImported(context, imported))
    })
}

async function exportSpace(context: Context, id: string, target: string) {
  if (existsSync(target)) throw new UsageError(`${target} exists already. Name another file.`)
  const unfinished = `${target}.unfinished`
  const response = await context.operator().fetch('GET', `/api/spaces/${encodeURIComponent(id)}/export`, {})
  await saveStream(context, response, unfinished, 'archive')
  try {
    const manifest = await readManifest(unfinished)
    await rename(unfinished, target)
    const { documents, chunks, goldenQuestions, bytes } = manifest
    return { documents, chunks, goldenQuestions, bytes }
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

/** The last entry. Throws where the archive has none, since it is not complete then. */
async function readManifest(file: string) {
  const incomplete = () =>
    new FailedError('The service did not send the whole archive. Nothing was kept. Its log has the reason.')
  const entries = extract()
  createReadStream(file).pipe(entries as unknown as NodeJS.WritableStream)
  try {
    for await (const entry of entries) {
      if (entry.header.name !== spaceManifestName) entry.resume()
      else return spaceManifestSchema.parse(await json(entry))
    }
  } catch (error) {
    throw new FailedError(incomplete().message, {}, { cause: error })
  }
  throw incomplete()
}

async function importSpace(context: Context, { from, organisation, name, model }: ImportOptions) {
  const stats = statSync(from, { throwIfNoEntry: false })
  if (!stats?.isFile()) throw new UsageError(`${from} is not a file.`)
  const client = context.operator()
  const organisationId = await findOrganisationId(client, organisation)
  const query = new URLSearchParams({ ...(name !== undefined && { name }), ...(model !== undefined && { model }) })
  let sent = 0
  async function* counted() {
    for await (const chunk of createReadStream(from, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
      sent += chunk.length
      context.output.progress(`sent ${Math.round(sent / 1_000_000)} of ${Math.round(stats!.size / 1_000_000)} MB`)
      yield chunk
    }
  }
  const response = await client.fetch('POST', `/api/organisations/${organisationId}/spaces/import?${query}`, {
    body: Readable.toWeb(Readable.from(counted(), { objectMode: false })) as ReadableStream,
    headers: { 'content-type': 'application/x-tar' },
  })
  context.output.progress('')
  return (await response.json()) as ImportedSpaceBody
}

function showImported({ output }: Context, imported: ImportedSpaceBody): void {
  output.fields([
    ['id', imported.spaceId],
    ['name', imported.name],
    ['documents', imported.documents],
    ['chunks', imported.chunks],
    ['golden questions', imported.goldenQuestions],
  ])
  if (imported.embedding === 'again')
    output.note('This installation has another embedder: the documents are embedded again in the background.')
  else if (imported.processing > 0) output.note(`${imported.processing} documents are processed in the background.`)
  output.note(`It is not published. Publish it with: portico space publish ${imported.spaceId}`)
}
