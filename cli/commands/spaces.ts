import type { SpaceBody } from '../../src/contract/operator.ts'
import { readTextFile } from '../context.ts'
import { type CliCommand, assertConfirmed, givenFields, parseNumber, parseWhole } from '../define.ts'
import { UsageError } from '../errors.ts'
import { findOrganisationId } from '../find-organisation.ts'
import type { Output } from '../output.ts'
import { defaultLimit, loadItems } from '../paging.ts'
import { addArchiveCommands } from './space-archives.ts'

interface SpaceOptions {
  instructions?: string
  instructionsFile?: string
  model?: string
  passages?: number
  temperature?: number
  maximumOutputTokens?: number
  baseTierFallback?: string
}

/** `portico space …` */
export function addSpaceCommands(program: CliCommand): void {
  const space = program
    .command('space')
    .description('Spaces: documents with instructions and a model, published for chat.')
  addCreateAndUpdate(space)
  addReads(space)
  addPublishing(space)
  addArchiveCommands(space)
}

function addCreateAndUpdate(space: CliCommand) {
  withFields(space.command('create <organisation> <name>'))
    .description('Create a Space.')
    .option('--publish', 'publish it at once')
    .examples(
      'portico space create Acme Handbook --publish',
      'portico space create Acme Support --instructions-file tone.md',
    )
    .run(
      async ({ output, operator }, options: SpaceOptions & { publish?: boolean }, reference: string, name: string) => {
        const client = operator()
        const organisationId = await findOrganisationId(client, reference)
        const created = await client.send<SpaceBody>('POST', '/api/spaces', {
          organisationId,
          name,
          ...toBody(options),
        })
        const shown = options.publish
          ? await client.send<SpaceBody>('POST', `/api/spaces/${created.id}/publish`)
          : created
        output.result(shown, () => printSpace(output, shown))
      },
    )
  withFields(space.command('update <space>'))
    .description('Change the given fields of a Space.')
    .option('--name <name>', 'new name')
    .examples('portico space update SPACE_ID --model eu/mistral-large --passages 12')
    .run(async ({ output, operator }, options: SpaceOptions & { name?: string }, id: string) => {
      const body = givenFields({ ...toBody(options), name: options.name }, 'Give an option such as --model ID.')
      const changed = await operator().send<SpaceBody>('PATCH', pathOf(id), body)
      output.result(changed, () => printSpace(output, changed))
    })
}

function addReads(space: CliCommand) {
  space
    .command('list [organisation]')
    .description('List the Spaces of an organisation, or all; newest first.')
    .option('--limit <count>', 'maximum number of items', parseWhole, defaultLimit)
    .examples('portico space list', 'portico space list Acme --json')
    .run(async ({ output, operator }, options: { limit: number }, reference: string | undefined) => {
      const client = operator()
      const query = reference === undefined ? '' : `?organisationId=${await findOrganisationId(client, reference)}`
      const page = await loadItems<SpaceBody>(client, `/api/spaces${query}`, options.limit)
      output.result(page, () => {
        output.list(
          page.items,
          {
            ID: 'id',
            NAME: 'name',
            MODEL: 'model',
            PUBLISHED: 'published',
            ENDPOINT: 'endpointId',
            ORGANISATION: 'organisationId',
          },
          'There is no Space. Create one with: portico space create ORGANISATION NAME',
        )
        if (page.items.length < page.total) output.note(`${page.items.length} of ${page.total}; --limit shows more.`)
      })
    })
  space
    .command('show <space>')
    .description('Show a Space.')
    .examples('portico space show SPACE_ID')
    .run(async ({ output, operator }, _options: object, id: string) => {
      const found = await operator().get<SpaceBody>(pathOf(id))
      output.result(found, () => printSpace(output, found))
    })
}

function addPublishing(space: CliCommand) {
  for (const [name, description] of [
    ['publish', 'Publish a Space. Its endpoint id never changes.'],
    ['unpublish', 'Unpublish a Space. Its endpoint returns 404 at once.'],
  ] as const) {
    space
      .command(`${name} <space>`)
      .description(description)
      .examples(`portico space ${name} SPACE_ID`)
      .run(async ({ output, operator }, _options: object, id: string) => {
        const changed = await operator().send<SpaceBody>('POST', `${pathOf(id)}/${name}`)
        output.result(changed, () => printSpace(output, changed))
      })
  }
  space
    .command('delete <space>')
    .description('Delete a Space with all its documents.')
    .option('--yes', 'confirm (required)')
    .examples('portico space delete SPACE_ID --yes')
    .run(async ({ output, operator }, options: { yes?: boolean }, id: string) => {
      assertConfirmed(options.yes, `This deletes Space ${id} and all its documents permanently.`)
      await operator().send('DELETE', pathOf(id))
      output.result({ deleted: id }, () =>
        output.line(`Deleted Space ${id}; its documents are being removed in the background.`),
      )
    })
}

function withFields(command: CliCommand): CliCommand {
  return command
    .option('--model <id>', 'model id or alias, with or without eu/')
    .option('--instructions <text>', 'instructions at the beginning of each prompt')
    .option('--instructions-file <file>', 'file with the instructions')
    .option('--passages <count>', 'maximum number of passages in a prompt, 1 to 50', parseWhole)
    .option('--temperature <number>', '0 to 2', parseNumber)
    .option('--maximum-output-tokens <count>', 'limit for one answer', parseWhole)
    .option('--base-tier-fallback <on|off>', 'use a base-tier model when the budget is exhausted')
}

function toBody(options: SpaceOptions): Record<string, unknown> {
  const { instructionsFile, passages, temperature, maximumOutputTokens, baseTierFallback } = options
  if (baseTierFallback !== undefined && !['on', 'off'].includes(baseTierFallback)) {
    throw new UsageError('--base-tier-fallback must be on or off.')
  }
  const settings = {
    maximumPassages: passages,
    temperature,
    maximumOutputTokens,
    baseTierFallback: baseTierFallback === undefined ? undefined : baseTierFallback === 'on',
  }
  return {
    model: options.model,
    instructions:
      instructionsFile === undefined ? options.instructions : readTextFile(instructionsFile, '--instructions-file'),
    settings: Object.values(settings).some((value) => value !== undefined) ? settings : undefined,
  }
}

function pathOf(id: string): string {
  return `/api/spaces/${encodeURIComponent(id)}`
}

function printSpace(output: Output, space: SpaceBody) {
  const { settings } = space
  output.fields([
    ['id', space.id],
    ['name', space.name],
    ['organisation', space.organisationId],
    ['published', space.published],
    ['endpoint', space.endpointId ?? 'none yet'],
    ['model', space.model],
    ['instructions', space.instructions === '' ? 'none' : `${space.instructions.length} characters`],
    ['passages at most', settings.maximumPassages],
    ['temperature', settings.temperature ?? 'default'],
    ['output tokens at most', settings.maximumOutputTokens ?? 'default'],
    ['base-tier fallback', settings.baseTierFallback],
    ['changed', space.updatedAt],
  ])
  if (space.published) output.note(`Try it with: portico chat ${space.endpointId} "Your question"`)
}
